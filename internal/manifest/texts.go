package manifest

// Texts reads JSON texts one after the other, each like Read, and reuses its buffers.
type Texts struct {
	rd    *reading
	lexer lexer
}

// NewTexts returns a Texts for one handler.
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
