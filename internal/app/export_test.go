package app

// Clients are the remote clients that a set registers, as the directory takes
// them.
var Clients = clients
