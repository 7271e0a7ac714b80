package manifest

// Texts reads JSON texts one after the other, as Read reads one, with the buffers of the one
// before.
type Texts struct {
	rd    *reading
	lexer lexer
}

// NewTexts is for texts that one handler is told of.
func NewTexts(o Options, h Handler) *Texts {
	t := &Texts{rd: newReading(o, h)}
	t.lexer.rd = t.rd
	return t
}

// Read reads one text.
func (t *Texts) Read(text []byte) error {
	t.rd.document = 0
	t.lexer.over(text, 1, nil)
	return stopped(t.rd.readJSON(&t.lexer))
}
