package storetest

import "errors"

var registryTests = map[string]func(*fixture){}

var _ = errors.Is
