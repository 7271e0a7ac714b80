package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/rogpeppe/go-internal/txtar"

	_ "github.com/kubectl-gc/kubectl-gc/internal/codec/all"
)

// packedDumps returns one dump, the tar archive of a list of pods, in all compressions.
func packedDumps(t testing.TB) map[string][]byte {
	t.Helper()
	plain := tarOf(t, []txtar.File{{Name: "resources/ns/shop/core_v1_pods.json", Data: []byte(podList)}})
	var l bytes.Buffer
	w := lz4.NewWriter(&l)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := map[string][]byte{"gzip": gzipOf(t, plain), "lz4": l.Bytes(), "zstd": z.EncodeAll(plain, nil)}
	for name, file := range map[string]string{"xz": "dump.tar.xz", "bzip2": "dump.tar.bz2"} {
		if packed[name], err = os.ReadFile("testdata/packed/" + file); err != nil {
			t.Fatal(err)
		}
	}
	return packed
}

// Every compression can be read. Truncated anywhere it is an error that names the compression, and
// a flipped bit is an error or changes nothing.
func TestPacked(t *testing.T) {
	for name, content := range packedDumps(t) {
		t.Run(name, func(t *testing.T) {
			if s, err := readBytes(content, Options{}); err != nil || len(s.Objects) != 1 || !s.Covers(preferred(t, s, pods), "shop") {
				t.Fatalf("%v, %v", s, err)
			}
			for n := 8; n < len(content); n++ {
				_, err := readBytes(content[:n], Options{})
				if err == nil || !strings.Contains(err.Error(), "standard input: ") {
					t.Fatalf("cut at %d of %d: %v", n, len(content), err)
				}
			}
			for i := range content {
				flawed := bytes.Clone(content)
				flawed[i] ^= 0x10
				if s, err := readBytes(flawed, Options{}); err == nil && (len(s.Objects) != 1 || s.Objects[0].Name != "p") {
					t.Fatalf("byte %d of %d flipped: %v", i, len(content), s.Objects)
				}
			}
		})
	}
}

// An xz header that requests 4 GiB is refused before any allocation.
func TestHostileWindow(t *testing.T) {
	content := packedDumps(t)["xz"]
	const header, dictionary = 12, 12 + 4
	size := 4 * (int(content[header]) + 1)
	content[dictionary] = 40
	binary.LittleEndian.PutUint32(content[header+size-4:], crc32.ChecksumIEEE(content[header:header+size-4]))
	_, err := readBytes(content, Options{})
	if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "xz asks for a window that is larger than 64 MiB") {
		t.Errorf("%v", err)
	}
}

// Nested archives are read under the paths of both, to a maximum depth.
func TestArchivesInArchives(t *testing.T) {
	inner := tarOf(t, []txtar.File{{Name: "resources/ns/shop/core_v1_pods.json", Data: []byte(podList)}})
	wrapped := func(name string, content []byte) []byte {
		return tarOf(t, []txtar.File{{Name: name, Data: content}, {Name: "a.log", Data: []byte("x")}})
	}
	for name, content := range map[string][]byte{
		"dump.tar": inner, "dump.tar.gz": gzipOf(t, inner), "dump.tgz": gzipOf(t, inner), "dump.tar.xz": packedDumps(t)["xz"],
		"dump.zip": zipOf(t, []txtar.File{{Name: "resources/ns/shop/core_v1_pods.json", Data: []byte(podList)}}),
	} {
		s, err := readBytes(gzipOf(t, wrapped(name, content)), Options{})
		if err != nil || len(s.Objects) != 1 || !s.Covers(preferred(t, s, pods), "shop") {
			t.Errorf("%s: %v, %v", name, s, err)
		}
		_, err = readBytes(wrapped("x/"+name, content[:len(content)-len(content)/3]), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "standard input: x/"+name) {
			t.Errorf("%s cut off: %v", name, err)
		}
		s, err = readBytes(wrapped("x/"+name, content[:len(content)-len(content)/3]), Options{AllowPartial: true})
		if err != nil || len(s.Problems) == 0 || s.Problems[0].Kind != Unread || s.Covers(preferred(t, s, pods), "shop") && len(s.Objects) == 0 {
			t.Errorf("%s cut off, allowed: %v, %v", name, s, err)
		}
	}
	if _, err := readBytes(wrapped("notes.tar", []byte(podList)), Options{}); err == nil || !strings.Contains(err.Error(), "none of its 2 files") {
		t.Errorf("text with the name of an archive: %v", err)
	}
	deep := inner
	for range 4 {
		deep = wrapped("in.tar", deep)
	}
	if _, err := readBytes(deep, Options{}); err == nil || !strings.Contains(err.Error(), "in.tar/in.tar/in.tar/in.tar: an archive in more than 3 archives") {
		t.Errorf("%v", err)
	}
	for range 4 {
		inner = gzipOf(t, inner)
	}
	if _, err := readBytes(wrapped("in.tar.gz", inner), Options{}); err == nil || !strings.Contains(err.Error(), "in.tar.gz: compressed more than 3 times") {
		t.Errorf("%v", err)
	}
}

// wideOf returns a text in UTF-16 with a byte order mark.
func wideOf(order binary.AppendByteOrder, text string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

// Output that PowerShell redirects is UTF-16.
func TestWideText(t *testing.T) {
	long := strings.Repeat("# \U0001F600 é\n", 50_000)
	for name, text := range map[string]string{
		"json": podList, "yaml": long + "apiVersion: v1\r\nkind: PodList\r\nitems:\r\n- metadata: {name: p, namespace: shop, uid: '1'}\r\n",
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			content := wideOf(order, text)
			s, err := readBytes(content, Options{})
			if err != nil || len(s.Objects) != 1 || s.Objects[0].Name != "p" {
				t.Fatalf("%s in %v: %v, %v", name, order, s, err)
			}
			if _, err := readBytes(content[:len(content)-1], Options{}); err == nil || !strings.Contains(err.Error(), "UTF-16: it ends with half a character") {
				t.Errorf("%s in %v, cut off: %v", name, order, err)
			}
			half := order.AppendUint16(nil, 0xd83d)
			flawed := append(append([]byte{}, content[:40]...), append(half, content[40:]...)...)
			if _, err := readBytes(flawed, Options{}); err == nil || !strings.Contains(err.Error(), "not valid UTF-16: half a character") {
				t.Errorf("%s in %v, half a character: %v", name, order, err)
			}
		}
	}
}
