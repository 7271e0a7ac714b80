package outcome

// Word is a text that many records share.
type Word uint16

// Words number the texts that many records share.
type Words struct {
	texts   []string
	numbers map[string]Word
}

// NewWords are without any text but the empty one.
func NewWords() *Words { return &Words{texts: []string{""}, numbers: map[string]Word{"": 0}} }

// Number is the number of a text.
func (w *Words) Number(text string) Word {
	n, ok := w.numbers[text]
	if !ok {
		n = Word(len(w.texts))
		w.texts = append(w.texts, text)
		w.numbers[text] = n
	}
	return n
}

// Text is the text with a number.
func (w *Words) Text(n Word) string { return w.texts[n] }

// The actors of steps.
const (
	ActorUser      = "user"
	ActorCollector = "collector"
	ActorServer    = "apiserver"
	// ActorReleaser is who takes a finalizer off whose controller is not known.
	ActorReleaser = "controller"
)
