package manifest

// fact reads a string that many objects share. A second occurrence in one object is a Problem.
func (l *lexer) fact(it *item, f field, to *string, name string) error {
	if err := l.once(it, f, name); err != nil {
		return err
	}
	return l.shared(it, to, name)
}

// shared reads a string that many objects share.
func (l *lexer) shared(it *item, to *string, name string) error {
	var s span
	if err := l.string(it, &s, name); err != nil {
		return err
	}
	*to = l.rd.in.Bytes(it.bytes(s))
	return nil
}

// repeated reads a string and interns it.
func (l *lexer) repeated(to *string, name string) error {
	if *to != "" {
		return l.wrong("%s is there twice", name)
	}
	text, err := l.text(nil, name)
	*to = l.rd.in.Bytes(text)
	return err
}

// own reads a string that other objects don't share.
func (l *lexer) own(to *string, name string) error {
	if *to != "" {
		return l.wrong("%s is there twice", name)
	}
	text, err := l.text(nil, name)
	*to = string(text)
	return err
}

// strings reads a list of strings; null is empty.
func (l *lexer) strings(name string) ([]string, error) {
	var list []string
	in, err := l.array(name)
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if l.token() != '"' {
			return nil, l.mistyped("an entry of "+name, "a string")
		}
		var text []byte
		if text, err = l.appendString(nil); err == nil {
			err = l.charge(len(text) + entryBytes)
		}
		list = append(list, l.rd.in.Bytes(text))
	}
	return list, err
}

// lowerFirst turns the name of a Go field into its JSON name.
func lowerFirst(key []byte) {
	if len(key) > 0 && key[0] >= 'A' && key[0] <= 'Z' {
		key[0] += 'a' - 'A'
	}
}
