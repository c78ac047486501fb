// Package interop meets other implementations of the protocol. The package
// oracle holds the wire table and the package a2a against the descriptor and
// the JSON of the official Go SDK's protobuf code. The package partner meets
// the SDKs for Go, Python and JavaScript, each as client and as server; the
// programs written with the latter two are in python/ and javascript/.
//
// It is a module of its own so that the SDKs and what they link never reach the
// product. Start reading at partner/matrix_test.go and oracle/oracle_test.go.
package interop
