package memdir_test

// The server of many_users_test.go.

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	memdir "github.com/memdir/memdir/bindings-go"
)

func TestAServerKeepsTheMemoriesOfItsUsersApart(t *testing.T) {
	place := t.TempDir()
	open := opener(func(user string) (*memdir.Memory, error) {
		return memdir.Open(place+"/"+user, memdir.MemoryOptions{})
	})
	send := func(handler http.HandlerFunc, user, body string) (int, string) {
		request := httptest.NewRequest("POST", "/", strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+user)
		answer := httptest.NewRecorder()
		handler(answer, request)
		return answer.Code, strings.TrimSpace(answer.Body.String())
	}
	create := `{"command": "create", "path": "/memories/a.md", "file_text": "tea\n"}`
	made := `{"content":"File created successfully at: /memories/a.md","is_error":false}`
	for _, user := range []string{"ann", "ben"} {
		if status, body := send(open.tool, user, create); status != 200 || body != made {
			t.Error(status, body)
		}
	}
	if status, body := send(open.forget, "ann", ""); status != 200 || body != `{"files":1,"versions":0}` {
		t.Error(status, body)
	}
	if status, body := send(open.tool, "ann", create); status != 200 || body != made {
		t.Error(status, body)
	}
	if status, body := send(open.tool, "ben", create); status != 200 || !strings.Contains(body, `"is_error":true`) {
		t.Error(status, body)
	}
	if status, body := send(open.tool, "ann", strings.Repeat(" ", 1<<20+1)); status != 413 {
		t.Error(status, body)
	}
}

func TestEachKindOfErrorHasTheStatusOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/behaviour.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\|.*\\| (\\d{3}) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 23 {
		t.Fatal(rows)
	}
	for _, row := range rows {
		if status := statusOf(memdir.ErrorKind(row[1])); strconv.Itoa(status) != row[2] {
			t.Errorf("%s: %d", row[0], status)
		}
	}
}

func TestAServerAsksForAnotherTryWhileItsDatabaseIsDown(t *testing.T) {
	t.Setenv("MEMORIES", "postgres://none@127.0.0.1:1/none?connect_timeout=1")
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	request := httptest.NewRequest("POST", "/", strings.NewReader(`{"command": "view", "path": "/memories"}`))
	request.Header.Set("Authorization", "Bearer ann")
	answer := httptest.NewRecorder()
	opener(memoryOf).tool(answer, request)
	if answer.Code != 503 || answer.Header().Get("Retry-After") != "5" {
		t.Error(answer.Code, answer.Body)
	}
}
