package cli

// HintFor and Plain are what tests see of the words for people.
var (
	HintFor   = hintFor
	Plain     = plain
	Line      = line
	Clip      = clip
	ShellWord = shellWord
)
