package outcome

// Word identifies a text that many records share.
type Word uint16

// Words interns texts.
type Words struct {
	texts   []string
	numbers map[string]Word
}

// NewWords returns words with only the empty text.
func NewWords() *Words { return &Words{texts: []string{""}, numbers: map[string]Word{"": 0}} }

// Number returns the word for a text. It adds the text if it is new.
func (w *Words) Number(text string) Word {
	n, ok := w.numbers[text]
	if !ok {
		n = Word(len(w.texts))
		w.texts = append(w.texts, text)
		w.numbers[text] = n
	}
	return n
}

// Text returns the text of a word.
func (w *Words) Text(n Word) string { return w.texts[n] }

// The actors of steps.
const (
	ActorUser      = "user"
	ActorCollector = "collector"
	ActorServer    = "apiserver"
	// ActorReleaser removes a finalizer if its controller is not known.
	ActorReleaser = "controller"
)
