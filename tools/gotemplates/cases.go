package main

import (
	"fmt"
	"math/rand"
	"strings"
)

// What the templates of the language's cases are about.
const values = `{
  "Name": "Roselle", "Empty": "", "Html": "<a href=\"x\">Tom & 'Jerry'</a>", "Text": "Wörter 日本 😀\n\ttab",
  "Number": 12, "Half": 0.5, "Negative": -3, "Zero": 0, "Large": 1e21, "Small": 0.00001, "Million": 1000000,
  "Yes": true, "No": false, "Nothing": null,
  "List": ["a", "b", "c"], "Numbers": [3, 1.5, 2], "None": [], "Nested": [[1, 2], [], ["x"]],
  "Map": {"b": 2, "a": "one", "c": {"d": [1, {"e": null}]}}, "Blank": {},
  "People": [{"Name": "Ann", "Age": 7}, {"Name": "Bob"}, {"Name": "", "Age": 0}]
}`

// Cases written by hand: what the language has, and what it refuses.
var cases = []string{
	"plain", "", "{{ .Name }}", "{{.Name}}", "a {{- .Name -}} b", "a {{- /* c */ -}} b", "a {{/* c */}} b", "a{{/* c }}", "{{- .Name }}",
	"x \n\t {{- 3 -}} \n y", "{{-3}}", "{{ -3 }}", "{{ - 3 }}", "{{3 -}} z", "{{3-}}", "{{/*a*/ }}", "{{ /*a*/}}", "{{", "}}", "{{}}", "{{ }}", "{ {.Name} }",
	"{{ .Name", "{{ .Name }", "{{\n.Name\n}}", "{{ .Name\n| len }}", "{{ \"a\nb\" }}", "{{ `a\nb` }}", "{{ `a\\n` }}", "{{ \"a\\tb\\u00e9\\x41\\101\\\"\" }}", "{{ \"\\q\" }}", "{{ \"open }}",
	"{{ 'a' }}", "{{ '\\n' }}", "{{ '\\'' }}", "{{ 'ab' }}", "{{ '' }}", "{{ '日' }}", "{{ 1 }}", "{{ 1.0 }}", "{{ 1.5 }}", "{{ .5 }}", "{{ 1e3 }}", "{{ 1e21 }}", "{{ 0x1F }}", "{{ 0b11 }}", "{{ 0o17 }}", "{{ 017 }}", "{{ 1_000 }}", "{{ +5 }}", "{{ 1x }}", "{{ 1.5f }}", "{{ 9223372036854775807 }}", "{{ 9223372036854775808 }}", "{{ 0x }}", "{{ 1e }}",
	"{{ true }}", "{{ false }}", "{{ nil }}", "{{ true | not }}", "{{ not true }}", "{{ .Nothing }}", "{{ .Missing }}", "{{ .Missing.Deep }}", "{{ .Nothing.Deep }}", "{{ $.Name }}", "{{ $ }}", "{{ . }}", "{{ .Map }}", "{{ .List }}", "{{ .Nested }}", "{{ .People }}", "{{ .Number }}", "{{ .Half }}", "{{ .Large }}", "{{ .Small }}", "{{ .Million }}",
	"{{ .Name.Deep }}", "{{ .Number.Deep }}", "{{ .List.Deep }}", "{{ .Map.a }}", "{{ .Map.c.d }}", "{{ .Map.c.x }}", "{{ .Map.c.x.y }}", "{{ (.Map).a }}", "{{ (index .Map \"c\").d }}", "{{ (index .People 0).Name }}", "{{ \"a\".Name }}", "{{ 1 .Name }}", "{{ .Name 1 }}", "{{ .Map.a 1 }}", "{{ (.Name) 1 }}", "{{ 1 | 2 }}", "{{ 1 | .Name }}", "{{ .Name | .Empty }}", "{{ .Name | (len) }}", "{{ . .Name }}", "{{ .. }}", "{{ .Name. }}", "{{ ..Name }}", "{{ $ .Name }}", "{{ $.People }}",
	"{{ $x := 1 }}{{ $x }}", "{{ $x := .Name }}{{ $x | len }}", "{{ $x }}", "{{ $x = 1 }}", "{{ $x := 1 }}{{ $x = 2 }}{{ $x }}", "{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}", "{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}", "{{ if $x := .Name }}{{ $x }}{{ else }}{{ $x }}{{ end }}", "{{ if $x := .Name }}{{ end }}{{ $x }}", "{{ with $x := .Map }}{{ $x.a }}{{ .b }}{{ end }}", "{{ $x, $y := 1 }}", "{{ $x := .Map }}{{ $x.c.d }}", "{{ $x:=1 }}{{$x}}", "{{ $x : = 1 }}", "{{ $1 := 2 }}{{ $1 }}", "{{ $ := 3 }}{{ $ }}", "{{ $x := }}", "{{ $x := $x }}", "{{ ($x := 1) }}{{ $x }}", "{{ 1 | $x }}", "{{ $x := 1 }}{{ 2 | $x }}", "{{ $x := 1 | print 2 }}{{ $x }}", "{{ $x+1 }}", "{{ $x := nil }}", "{{ $x := .Nothing }}{{ $x }}{{ $x.Deep }}",
	"{{ if .Yes }}a{{ else }}b{{ end }}", "{{ if .No }}a{{ else if .Zero }}b{{ else if .Half }}c{{ else }}d{{ end }}", "{{ if .No }}a{{ else with .Name }}b{{ end }}", "{{ if .Empty }}a{{ end }}", "{{ if .Blank }}a{{ else }}b{{ end }}", "{{ if .None }}a{{ else }}b{{ end }}", "{{ if .Map }}a{{ end }}", "{{ if }}a{{ end }}", "{{ if .Yes }}a", "{{ if .Yes }}a{{ else }}b{{ else }}c{{ end }}", "{{ end }}", "{{ else }}", "{{ if .Yes }}{{ end }}{{ end }}", "{{ if .Yes.No }}{{ end }}", "{{ if not .Yes }}a{{ else }}b{{ end }}", "{{ if nil }}a{{ end }}", "{{if .Yes}}a{{else}}{{if .No}}b{{end}}{{end}}", "{{ if eq .Name \"Roselle\" }}yes{{ end }}",
	"{{ with .Name }}{{ . }}{{ $.Number }}{{ else }}none{{ end }}", "{{ with .Empty }}{{ . }}{{ else }}none{{ .Name }}{{ end }}", "{{ with .Empty }}a{{ else with .Name }}{{ . }}{{ else }}c{{ end }}", "{{ with .Map }}{{ .a }}{{ with .c }}{{ .d }}{{ end }}{{ end }}", "{{ with }}{{ end }}",
	"{{ range .List }}{{ . }},{{ end }}", "{{ range $i, $e := .List }}{{ $i }}{{ $e }};{{ end }}", "{{ range $e := .List }}{{ $e }}{{ end }}", "{{ range .None }}a{{ else }}none{{ end }}", "{{ range $i, $e := .None }}a{{ else }}{{ $e }}{{ end }}", "{{ range $k, $v := .Map }}{{ $k }}={{ $v }} {{ end }}", "{{ range .Map }}{{ . }} {{ end }}", "{{ range .Nothing }}a{{ else }}b{{ end }}", "{{ range .Name }}a{{ end }}", "{{ range .Number }}a{{ end }}", "{{ range 3 }}{{ . }}{{ end }}", "{{ range $i := 3 }}{{ $i }}{{ end }}", "{{ range $i, $j := 3 }}{{ $i }}{{ end }}", "{{ range 0 }}a{{ else }}b{{ end }}", "{{ range -1 }}a{{ else }}b{{ end }}", "{{ range .Yes }}{{ end }}", "{{ range .Missing }}a{{ else }}b{{ end }}", "{{ range .People }}{{ .Name }}{{ .Age }}{{ $.Name }} {{ end }}", "{{ range $i, $p := .People }}{{ if $i }}, {{ end }}{{ $p.Name }}{{ end }}", "{{ range .List }}{{ if eq . \"b\" }}{{ break }}{{ end }}{{ . }}{{ end }}", "{{ range .List }}{{ if eq . \"b\" }}{{ continue }}{{ end }}{{ . }}{{ end }}", "{{ range .Nested }}[{{ range . }}{{ if eq . \"x\" }}{{ break }}{{ end }}{{ . }}{{ else }}-{{ end }}]{{ end }}", "{{ break }}", "{{ continue }}", "{{ range .List }}{{ break 1 }}{{ end }}", "{{ range .List }}{{ define \"x\" }}{{ break }}{{ end }}{{ end }}", "{{ define \"x\" }}{{ break }}{{ end }}", "{{ range .None }}{{ else }}{{ break }}{{ end }}", "{{ range .List }}{{ range $.None }}{{ else }}{{ break }}{{ end }}{{ . }}{{ end }}", "{{ $x := 0 }}{{ range $i, $_ := .List }}{{ $x = $i }}{{ end }}{{ $x }}", "{{ $i := 0 }}{{ $e := 0 }}{{ range $i, $e = .List }}{{ end }}{{ $i }}{{ $e }}", "{{ $e := 0 }}{{ range $e = .None }}{{ end }}{{ $e }}", "{{ $e := 0 }}{{ range $e = .List }}{{ end }}{{ $e }}", "{{ range $a, $b, $c := .List }}{{ end }}", "{{ range $a, 1 := .List }}{{ end }}", "{{ range $i, .List }}{{ end }}", "{{ range $i .List }}{{ end }}", "{{ range $x := .List }}{{ $x := 5 }}{{ $x }}{{ end }}", "{{ range .List }}{{ $y := . }}{{ end }}{{ $y }}", "{{ range (slice .List 1) }}{{ . }}{{ end }}",
	"{{ define \"t\" }}[{{ . }}]{{ end }}{{ template \"t\" .Name }}", "{{ define \"t\" }}[{{ . }}]{{ end }}{{ template \"t\" }}", "{{ template \"t\" .Name }}{{ define \"t\" }}<{{ . }}>{{ end }}", "{{ template \"none\" . }}", "{{ if .No }}{{ template \"none\" . }}{{ end }}", "{{ block \"b\" .List }}{{ range . }}{{ . }}{{ end }}{{ end }}", "{{ define \"t\" }}{{ $x }}{{ end }}{{ $x := 1 }}", "{{ $x := 1 }}{{ define \"t\" }}{{ $x }}{{ end }}", "{{ define \"t\" }}{{ $ }}{{ end }}{{ template \"t\" 5 }}", "{{ define t }}{{ end }}", "{{ define \"t\" }}", "{{ define \"t\" }}{{ else }}{{ end }}", "{{ if .Yes }}{{ define \"t\" }}{{ end }}{{ end }}", "{{ define \"t\" }}a{{ end }}{{ define \"t\" }}b{{ end }}", "{{ define \"t\" }} {{ end }}{{ define \"t\" }}b{{ end }}{{ template \"t\" }}", "{{ define \"t\" }}{{ template \"t\" . }}{{ end }}{{ template \"t\" . }}", "{{ template .Name . }}", "{{ template \"t\" | len }}", "{{ block \"b\" }}x{{ end }}", "{{ define `raw` }}r{{ end }}{{ template `raw` }}", "{{ define \"t\" }}{{ if . }}{{ slice . 1 }}{{ template \"t\" slice . 1 }}{{ end }}{{ end }}{{ template \"t\" .Name }}",
	"{{ and }}", "{{ or }}", "{{ not }}", "{{ not 1 2 }}", "{{ and .Yes .Name }}", "{{ and .No .Name.Deep }}", "{{ and .Yes .Name.Deep }}", "{{ or .Empty .Name }}", "{{ or .Name .Name.Deep }}", "{{ or .No .Zero .Empty }}", "{{ and 1 2 3 }}", "{{ .Name | and .Yes }}", "{{ .Name | or .No }}", "{{ and nil }}", "{{ and .Nothing 1 }}", "{{ or .Nothing nil }}",
	"{{ eq 1 1 }}", "{{ eq 1 1.0 }}", "{{ eq .Number 12 }}", "{{ eq .Number 12.0 }}", "{{ eq .Name \"Roselle\" }}", "{{ eq .Name 1 }}", "{{ eq .Name \"a\" \"b\" \"Roselle\" }}", "{{ eq .Name }}", "{{ eq }}", "{{ eq .Nothing nil }}", "{{ eq .Missing .Nothing }}", "{{ eq .Name nil }}", "{{ eq .List .List }}", "{{ eq .Map .Map }}", "{{ eq .List nil }}", "{{ ne .Name \"x\" }}", "{{ ne .Name 1 }}", "{{ ne 1 2 3 }}", "{{ eq true .Yes }}", "{{ eq 'a' 97 }}", "{{ lt 1 2 }}", "{{ lt 2 1 }}", "{{ lt .Half 1 }}", "{{ lt .Half 1.0 }}", "{{ le 1 1 }}", "{{ gt .Number 3.0 }}", "{{ ge \"b\" \"a\" }}", "{{ lt true false }}", "{{ lt .List .List }}", "{{ lt .Nothing 1 }}", "{{ lt 1 }}", "{{ gt 1 2 3 }}", "{{ gt .Missing .Number }}", "{{ lt \"a\" 1 }}", "{{ ge nil nil }}",
	"{{ len .Name }}", "{{ len .Text }}", "{{ len .List }}", "{{ len .Map }}", "{{ len .Number }}", "{{ len .Nothing }}", "{{ len nil }}", "{{ len }}", "{{ len .Name .List }}", "{{ .List | len }}", "{{ len (slice .List 1) }}", "{{ index .List 0 }}", "{{ index .List 3 }}", "{{ index .List -1 }}", "{{ index .List \"a\" }}", "{{ index .List .Zero }}", "{{ index .List }}", "{{ index .Map \"a\" }}", "{{ index .Map \"x\" }}", "{{ index .Map 1 }}", "{{ index .Map \"c\" \"d\" 1 \"e\" }}", "{{ index .Nested 0 1 }}", "{{ index .Nested 1 0 }}", "{{ index .Name 0 }}", "{{ index .Number 0 }}", "{{ index .Nothing 0 }}", "{{ index nil }}", "{{ index .List nil }}", "{{ index .List true }}", "{{ index }}", "{{ slice .List 1 }}", "{{ slice .List 1 2 }}", "{{ slice .List 2 1 }}", "{{ slice .List 0 9 }}", "{{ slice .List }}", "{{ slice .List 0 1 2 }}", "{{ slice .Name 1 3 }}", "{{ slice .Name 1 3 4 }}", "{{ slice .Text 0 7 }}", "{{ slice .Number 1 }}", "{{ slice .Nothing 1 }}", "{{ slice .Map 1 }}", "{{ slice .List 1 2 3 3 }}", "{{ slice .Name 8 }}", "{{ slice .Name 7 }}",
	"{{ print 1 2 \"a\" \"b\" 3 4 nil true }}", "{{ print }}", "{{ print .Nothing }}", "{{ print .List .Map }}", "{{ println 1 \"a\" }}", "{{ println }}", "{{ printf \"%s|%d|%v\" .Name 5 .Half }}", "{{ printf \"%q\" .Html }}", "{{ printf `%q` \"a\\x01\\u2028\\u00a0\\\\u003c<\\x7f\\a\\v\\U0001F600\\u200b\\U000E0001\" }}", "{{ js \"\\x01=\\u2028é\" }}", "{{ printf \"%5d|%-5d|%05d|%+d|%x|%X|%o|%b|%c\" 42 42 42 42 255 255 8 5 65 }}", "{{ printf \"%.2f|%8.3f|%e|%g|%f\" 3.14159 2.5 12345.678 0.1 1.0 }}", "{{ printf \"%t\" true }}", "{{ printf \"%%\" }}", "{{ printf \"%10s|%-10s|%.3s\" .Name .Name .Name }}", "{{ printf \"%d\" .Name }}", "{{ printf \"%s\" 1 }}", "{{ printf \"%d\" }}", "{{ printf \"a\" 1 }}", "{{ printf 1 }}", "{{ printf }}", "{{ printf .Nothing }}", "{{ printf \"%v %v %v\" .Number .Large .Nothing }}", "{{ printf \"%x\" \"hi\" }}", "{{ .Name | printf \"%s-%s\" \"x\" }}", "{{ printf \"%6.2f|%-8v|%8v\" .Half .Yes .Name }}",
	"{{ html .Html }}", "{{ js .Html }}", "{{ js .Text }}", "{{ urlquery \"a b&c=ä/~*-_.\" }}", "{{ .Html | html | len }}", "{{ html .Nothing 1 \"a\" }}", "{{ json . }}", "{{ json .Html }}", "{{ json .Text }}", "{{ json .Half }}", "{{ json .Large }}", "{{ json .Small }}", "{{ json 5 }}", "{{ json 1e-9 }}", "{{ json .Nothing }}", "{{ json nil }}", "{{ json }}", "{{ json 1 2 }}", "{{ .List | json | printf \"%s!\" }}", "{{ json .Million }}", "{{ json \"\\x01\\u2028\\b\\f\" }}",
	"{{ call .Name }}", "{{ unknown }}", "{{ unknown .Name }}", "{{ Name }}", "{{ len | len }}", "{{ .Name | }}", "{{ | len }}", "{{ .Name || len }}", "{{ (.Name }}", "{{ .Name) }}", "{{ () }}", "{{ ((len .Name)) }}", "{{ (print (len .Name) (index .List 0)) | len }}", "{{ (.Name | len) | print 1 }}", "{{ print(len .Name)(len .List) }}", "{{ print.Name }}", "{{ .Name.(len) }}", "{{ len(.Name) }}", "{{ .Name,1 }}", "{{ .Name ? }}", "{{ .Name == 1 }}", "{{ !.Name }}", "{{ .Na-me }}", "{{ .名 }}", "{{ print currentX }}", "{{ define }}{{ end }}", "{{ template }}", "{{ range }}{{ end }}", "{{ end 1 }}", "{{ if .Yes }}{{ end .Name }}", "{{ else if }}", "{{ nil.Name }}", "{{ true.Name }}", "{{ $.Name.Deep }}", "{{ print nil }}", "{{ nil | print }}", "{{ print (nil) }}", "{{ if (nil) }}{{ end }}", "{{ eq (index .People 2).Age 0.0 }}", "{{ (index .People 1).Age }}", "{{ $p := index .People 1 }}{{ $p.Age }}{{ $p.Age.Deep }}", "{{ if and (index .People 1).Age true }}a{{ else }}b{{ end }}", "{{ with $x := 5 }}{{ with $x := 6 }}{{ $x }}{{ end }}{{ $x }}{{ . }}{{ end }}", "a{{\"\"}}b", "{{\"}}\"}}", "{{`{{`}}", "{{ \"{{\" }}x", "{{/* }} */}}x", "x{{- end -}}", "\r\n{{- .Name -}}\r\nx", "{{ .Name }}\r\n", "\u00a0{{- .Name -}}\u00a0", "é{{- .Name }}", "{{ 1 -}}  {{- 2 }}", "{{- -}}", "{{- /* x */ -}}", "{{- /* x */}}a", "{{ .Name -}} }}", "{{if true}}\n{{end}}", "{{ break | print }}",
}

var (
	terms = []string{".Name", ".Empty", ".Number", ".Half", ".Yes", ".No", ".Nothing", ".Missing", ".List", ".Numbers", ".None", ".Map", ".Map.a", ".Map.c.d", ".Blank", ".Html", ".Text", ".Nested", "$", "1", "0", "-2", "2.5", "\"b\"", "\"\"", "`c`", "'x'", "true", "nil", "$v"}
	// Of what takes any values there is more: most of the rest is refused.
	names = []string{"and", "or", "not", "print", "print", "print", "println", "html", "json .Map |  print", "json .Nested | print", "eq .Name", "eq 1", "len .List | print", "index .List 1 | print", "slice .Name 1 4 | print", "and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", "slice", "print", "println", "html", "js", "urlquery", "json", "printf \"%v:%v\"", "printf \"%s\"", "printf \"%q\"", "printf \"%d\"", "printf \"%6v|\""}
)

func pick(random *rand.Rand, from []string) string {
	return from[random.Intn(len(from))]
}

func operand(random *rand.Rand, depth int) string {
	if depth > 0 && random.Intn(3) == 0 {
		return "(" + pipeline(random, depth-1) + ")"
	}
	return pick(random, terms)
}

func pipeline(random *rand.Rand, depth int) string {
	var commands []string
	for stage := 0; stage == 0 || random.Intn(4) == 0; stage++ {
		if stage == 0 && random.Intn(3) == 0 {
			commands = append(commands, operand(random, depth))
			continue
		}
		command := pick(random, names)
		for count := random.Intn(3); count >= 0; count-- {
			command += " " + operand(random, depth)
		}
		commands = append(commands, command)
	}
	return strings.Join(commands, " | ")
}

func trimmed(random *rand.Rand, action string) string {
	left, right := "{{ ", " }}"
	if random.Intn(4) == 0 {
		left = "{{- "
	}
	if random.Intn(4) == 0 {
		right = " -}}"
	}
	return left + action + right
}

func statement(random *rand.Rand, depth int) string {
	if depth == 0 || random.Intn(3) == 0 {
		return trimmed(random, pipeline(random, 1)) + pick(random, []string{"", " ", "\n", " x ", ";"})
	}
	body := func() string { return statement(random, depth-1) + statement(random, depth-1) }
	end := trimmed(random, "end")
	switch random.Intn(6) {
	case 0:
		return trimmed(random, "if "+pipeline(random, 1)) + body() + trimmed(random, "else") + body() + end
	case 1:
		return trimmed(random, "with "+operand(random, 1)) + body() + trimmed(random, "else with "+operand(random, 0)) + body() + end
	case 2:
		return trimmed(random, "range $i, $v := "+operand(random, 0)) + "{{ $i }}" + body() + trimmed(random, "else") + body() + end
	case 3:
		return trimmed(random, "range "+pick(random, []string{".List", ".Numbers", ".Map", ".Nested", ".None", ".People", "2"})) + "{{ . }}" + trimmed(random, "if "+pipeline(random, 0)) + trimmed(random, pick(random, []string{"break", "continue"})) + end + body() + end
	case 4:
		return trimmed(random, "$v = "+pipeline(random, 1)) + body()
	default:
		return trimmed(random, "template \"t\" "+operand(random, 0)) + body()
	}
}

func generated(random *rand.Rand) []string {
	var all []string
	for range 2500 {
		all = append(all, fmt.Sprintf("{{ $v := 7 }}{{ %s }}", pipeline(random, 2)))
	}
	for range 1500 {
		all = append(all, "{{ $v := `v` }}{{ define \"t\" }}<{{ . }}>{{ end }}"+statement(random, 3))
	}
	return all
}
