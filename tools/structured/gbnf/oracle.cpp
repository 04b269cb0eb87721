// Tells what llama.cpp's grammar engine says of texts. Input: numbers of bytes and bytes, a grammar and then texts, until the end:
// "G 12\n" + 12 bytes, "T 3\n" + 3 bytes ... Output: a line for each: "ok", "invalid" of a grammar, "1" or "0" of a text.
#include "llama-grammar.h"
#include "llama-impl.h"
#include "llama-vocab.h"

#include <cstdio>
#include <cstdlib>
#include <string>

// What the engine calls of the rest of llama.cpp, and does not need here.
void llama_log_internal(ggml_log_level, const char *, ...) {}
extern "C" void ggml_abort(const char *, int, const char *, ...) { std::abort(); }
bool llama_vocab::is_eog(llama_token) const { return false; }
const std::string & llama_vocab::token_to_piece(llama_token) const { std::abort(); }
int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const { std::abort(); }

static bool matches(llama_grammar * grammar, const std::string & text) {
    llama_grammar_stacks & stacks = llama_grammar_get_stacks(grammar);
    const llama_grammar_stacks before = stacks;
    bool found = true;
    for (size_t at = 0; at < text.size() && found;) {
        const unsigned char lead = text[at];
        const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        try {
            llama_grammar_accept_token(*grammar, 0, text.substr(at, length));
        } catch (const std::exception &) {
            found = false;
        }
        found = found && !stacks.empty();
        at += length;
    }
    if (found) {
        found = false;
        for (const auto & stack : stacks) {
            found = found || stack.empty();
        }
    }
    stacks = before;
    return found;
}

int main() {
    llama_grammar * grammar = nullptr;
    char kind;
    size_t length;
    while (std::scanf("%c %zu", &kind, &length) == 2 && std::getchar() == '\n') {
        std::string text(length, '\0');
        if (std::fread(text.data(), 1, length, stdin) != length) {
            return 1;
        }
        if (kind == 'G') {
            grammar = llama_grammar_init_impl(nullptr, text.c_str(), "root", false, nullptr, 0, nullptr, 0);
            std::puts(grammar == nullptr ? "invalid" : "ok");
        } else {
            std::puts(grammar != nullptr && matches(grammar, text) ? "1" : "0");
        }
        std::fflush(stdout);
    }
    return 0;
}
