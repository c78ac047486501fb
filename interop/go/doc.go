// Package interop meets other implementations of the protocol: its tests hold
// the package a2a against the descriptor and the JSON of the official Go SDK's
// protobuf code, and both roles against that SDK as client and as server.
//
// It has no code of its own, and is a module of its own so that the SDK and
// what it links never reach the product. Start reading at oracle_test.go,
// differential_test.go and matrix_test.go.
package interop
