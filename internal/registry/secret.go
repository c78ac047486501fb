package registry

// Secret is a named credential. The document says what it is for; its value goes
// to the vault by other ways and is never part of a document.
type Secret struct {
	// Description says what the secret is for. It is not encrypted.
	Description string `json:"description,omitzero" max:"1024"`
}

// Kind returns [KindSecret].
func (*Secret) Kind() Kind { return KindSecret }

func (*Secret) rules(*reporter) {}
