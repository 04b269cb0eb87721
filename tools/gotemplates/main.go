// Writes what Go's text/template and Ollama's own package render; see README.md.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"text/template"

	"github.com/ollama/ollama/api"
	ollama "github.com/ollama/ollama/template"
	"github.com/ollama/ollama/thinking"
)

// One template; the output is nil where Go refuses the template or fails to run it.
type golden struct {
	Template string  `json:"template"`
	Output   *string `json:"output"`
}

type conversation struct {
	Messages []api.Message   `json:"messages"`
	Tools    api.Tools       `json:"tools,omitempty"`
	Suffix   string          `json:"suffix,omitempty"`
	Think    *api.ThinkValue `json:"think,omitempty"`
}

type rendering struct {
	Template     string  `json:"template"`
	Conversation int     `json:"conversation"`
	Output       *string `json:"output"`
}

type document struct {
	Data          json.RawMessage `json:"data"`
	Language      []golden        `json:"language"`
	Conversations json.RawMessage `json:"conversations"`
	Renderings    []rendering     `json:"renderings"`
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

var functions = template.FuncMap{"json": func(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}, "printf": printf}

var plain = regexp.MustCompile(`^(?:[^%]|%v|%%)*$`)

// Go's, but that what it tells within its text is an error, and that lists and maps are printed by a bare %v alone.
func printf(format string, values ...any) (string, error) {
	for _, value := range values {
		kind := reflect.ValueOf(value).Kind()
		isNumber := kind == reflect.Int || kind == reflect.Float64
		if (kind == reflect.Slice || kind == reflect.Map) && !plain.MatchString(format) || isNumber && strings.Contains(format, "%q") {
			return "", errors.New("refused")
		}
	}
	text := fmt.Sprintf(format, values...)
	if strings.Contains(text, "%!") {
		return "", errors.New(text)
	}
	return text, nil
}

func language(text string, data any) *string {
	parsed, err := template.New("").Option("missingkey=zero").Funcs(functions).Parse(text)
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	if parsed.Execute(&out, data) != nil {
		return nil
	}
	written := out.String()
	return &written
}

func render(text string, asked conversation) *string {
	parsed, err := ollama.Parse(text)
	if err != nil {
		return nil
	}
	think := asked.Think
	begin, end := thinking.InferTags(parsed.Template)
	if think == nil && begin != "" && end != "" {
		think = &api.ThinkValue{Value: true} // as the server does
	}
	values := ollama.Values{Messages: append([]api.Message{}, asked.Messages...), Tools: asked.Tools}
	if asked.Suffix != "" {
		values.Prompt = asked.Messages[0].Content
		values.Suffix = asked.Suffix
	}
	if think != nil {
		values.Think, values.ThinkLevel, values.IsThinkSet = think.Bool(), think.String(), true
	}
	var out bytes.Buffer
	if parsed.Execute(&out, values) != nil {
		return nil
	}
	written := out.String()
	return &written
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: go run . OUTPUT.json.gz FOLDER-OF-TEMPLATES...")
	}
	var data any
	if err := json.Unmarshal([]byte(values), &data); err != nil {
		log.Fatal(err)
	}
	written := document{Data: json.RawMessage(values)}
	for _, text := range append(append([]string{}, cases...), generated(rand.New(rand.NewSource(20261129)))...) {
		written.Language = append(written.Language, golden{text, language(text, data)})
	}
	written.Conversations = must(os.ReadFile("conversations.json"))
	var asked []conversation
	if err := json.Unmarshal(written.Conversations, &asked); err != nil {
		log.Fatal(err)
	}
	for _, folder := range os.Args[2:] {
		files := must(filepath.Glob(filepath.Join(folder, "*.gotmpl")))
		sort.Strings(files)
		for _, file := range files {
			text := string(must(os.ReadFile(file)))
			for index, each := range asked {
				written.Renderings = append(written.Renderings, rendering{text, index, render(text, each)})
			}
		}
	}
	var packed bytes.Buffer
	zip := must(gzip.NewWriterLevel(&packed, gzip.BestCompression))
	must(zip.Write(must(json.Marshal(written))))
	zip.Close()
	if err := os.WriteFile(os.Args[1], packed.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
