// Writes the API reference of the Go module as HTML, a page for each package: what `go doc -all` shows, with links. It uses the packages
// of Go's own documentation, as pkg.go.dev does. It fails for a link in a comment that leads to an unknown name.
//
// Usage: go run docs/api/reference.go OUT PACKAGE=DIRECTORY...
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

const style = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}
pre,code{font:14px/1.45 ui-monospace,monospace}
pre{background:#8881;border-radius:4px;overflow-x:auto;padding:.75rem}
nav ul{column-width:18rem;padding-left:1.2rem}
h2,h3,h4{line-height:1.25;margin-top:2rem;overflow-wrap:anywhere}
details{margin:1rem 0}`

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Name}}: Go</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
<h1>package {{.Name}}</h1>
<pre>import "{{.Path}}"</pre>
{{if .Others}}<p>Other packages of the module:{{range .Others}} <a href="{{.Address}}">{{.Name}}</a>{{end}}</p>{{end}}
{{.Doc}}
<h2 id="index">Index</h2>
<nav><ul>{{range .Items}}<li><a href="#{{.ID}}">{{.ID}}</a></li>{{end}}</ul></nav>
{{range .Examples}}{{template "example" .}}{{end}}
{{range .Items}}
{{if .OfType}}<h4 id="{{.ID}}">{{.Kind}} {{.ID}}</h4>{{else}}<h3 id="{{.ID}}">{{.Kind}} {{.ID}}</h3>{{end}}
<pre>{{.Code}}</pre>
{{.Doc}}
{{range .Examples}}{{template "example" .}}{{end}}
{{end}}
</main>
</body>
</html>
{{define "example"}}<details><summary>Example{{with .Suffix}} ({{.}}){{end}}</summary>
<pre>{{.Code}}</pre>{{with .Output}}<p>Output:</p><pre>{{.}}</pre>{{end}}</details>
{{end}}`))

type item struct {
	ID, Kind string
	// Whether it belongs to the type before it.
	OfType    bool
	Code, Doc template.HTML
	Examples  []example
}

type example struct{ Suffix, Code, Output string }

type other struct{ Name, Address string }

// A link in a comment to a name that does not exist stays as text in brackets.
var unresolved = regexp.MustCompile(`\[\*?[A-Z]\w*(?:\.[A-Z]\w*)?\]`)

type reference struct {
	set      *token.FileSet
	pkg      *doc.Package
	problems *[]string
}

func main() {
	out := os.Args[1]
	var problems []string
	var places, directories []string
	for _, given := range os.Args[2:] {
		place, directory, _ := strings.Cut(given, "=")
		places, directories = append(places, place), append(directories, directory)
	}
	for number, place := range places {
		var others []other
		for _, to := range places {
			if to != place {
				address, err := filepath.Rel(place, to)
				check(err)
				others = append(others, other{filepath.Base(to), address + "/index.html"})
			}
		}
		// The first package is the root of the module.
		below, err := filepath.Rel(places[0], place)
		check(err)
		write(filepath.Join(out, below, "index.html"), place, directories[number], others, &problems)
	}
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

func write(file, place, directory string, others []other, problems *[]string) {
	set := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(directory, "*.go"))
	check(err)
	var files []*ast.File
	for _, name := range names {
		source, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		check(err)
		// The file for a build without cgo only says what is missing.
		if filepath.Base(name) != "cgo_disabled.go" {
			files = append(files, source)
		}
	}
	pkg, err := doc.NewFromFiles(set, files, place)
	check(err)
	r := &reference{set, pkg, problems}

	var items []item
	values := func(kind string, ofType bool, all []*doc.Value) {
		for _, value := range all {
			names := exported(value.Names)
			if len(names) > 0 {
				items = append(items, item{ID: names[0], Kind: kind, OfType: ofType, Code: r.code(value.Decl, names), Doc: r.html(value.Doc, names[0])})
			}
		}
	}
	functions := func(ofType bool, all []*doc.Func) {
		for _, function := range all {
			id := function.Name
			if function.Recv != "" {
				receiver, _, _ := strings.Cut(strings.TrimLeft(function.Recv, "*"), "[")
				id = receiver + "." + id
			}
			items = append(items, item{ID: id, Kind: "func", OfType: ofType, Code: r.code(function.Decl, nil), Doc: r.html(function.Doc, id), Examples: r.examples(function.Examples)})
		}
	}
	values("const", false, pkg.Consts)
	values("var", false, pkg.Vars)
	functions(false, pkg.Funcs)
	for _, found := range pkg.Types {
		items = append(items, item{ID: found.Name, Kind: "type", Code: r.code(found.Decl, nil), Doc: r.html(found.Doc, found.Name), Examples: r.examples(found.Examples)})
		values("const", true, found.Consts)
		values("var", true, found.Vars)
		functions(true, found.Funcs)
		functions(true, found.Methods)
	}
	check(os.MkdirAll(filepath.Dir(file), 0o755))
	to, err := os.Create(file)
	check(err)
	check(page.Execute(to, map[string]any{
		"Name": pkg.Name, "Path": place, "Style": template.CSS(style), "Others": others,
		"Doc": r.html(pkg.Doc, "package "+pkg.Name), "Items": items, "Examples": r.examples(pkg.Examples),
	}))
	check(to.Close())
}

// The comment as HTML, whose links lead to names of this page and to the documentation of other packages.
func (r *reference) html(text, of string) template.HTML {
	read := r.pkg.Parser().Parse(text)
	to := r.pkg.Printer()
	to.HeadingLevel = 4
	to.DocLinkURL = func(link *comment.DocLink) string {
		if link.ImportPath == "" || link.ImportPath == r.pkg.ImportPath {
			return "#" + strings.TrimPrefix(link.Recv+"."+link.Name, ".")
		}
		return link.DefaultURL("https://pkg.go.dev")
	}
	html := to.HTML(read)
	for _, name := range unresolved.FindAllString(string(to.Text(read)), -1) {
		*r.problems = append(*r.problems, fmt.Sprintf("%s: %s: there is no %s", r.pkg.ImportPath, of, name))
	}
	return template.HTML(html)
}

// The declaration, in which each name that others can link to has an anchor.
func (r *reference) code(declaration ast.Decl, names []string) template.HTML {
	text := template.HTMLEscapeString(r.format(declaration))
	for _, name := range names {
		if name != names[0] {
			pattern := regexp.MustCompile(`(?m)^(\s*(?:const |var )?)` + name + `\b`)
			text = pattern.ReplaceAllString(text, `$1<span id="`+name+`">`+name+`</span>`)
		}
	}
	return template.HTML(text)
}

func (r *reference) format(node any) string {
	var text bytes.Buffer
	check(format.Node(&text, r.set, node))
	return text.String()
}

func (r *reference) examples(all []*doc.Example) []example {
	var found []example
	for _, one := range all {
		code := r.format(&printer.CommentedNode{Node: one.Code, Comments: one.Comments})
		found = append(found, example{one.Suffix, unindented(code), one.Output})
	}
	return found
}

// The body of an example without its braces and its indentation.
func unindented(code string) string {
	lines := strings.Split(strings.Trim(code, "{}\n"), "\n")
	for number, line := range lines {
		lines[number] = strings.TrimPrefix(line, "\t")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func exported(names []string) []string {
	var found []string
	for _, name := range names {
		if ast.IsExported(name) {
			found = append(found, name)
		}
	}
	sort.Strings(found)
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
