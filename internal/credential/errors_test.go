package credential_test

import (
	"errors"

	"github.com/legation/legation/internal/credential"
)

func asError(err error) (*credential.Error, bool) { return errors.AsType[*credential.Error](err) }
