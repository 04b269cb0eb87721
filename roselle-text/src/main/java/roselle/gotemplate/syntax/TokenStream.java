package roselle.gotemplate.syntax;

import java.util.List;
import roselle.jinja.text.TemplateFault;

/** Tokens one after the other; the last stays. */
final class TokenStream {
    private final List<Token> tokens;
    private int at;

    TokenStream(List<Token> tokens) {
        this.tokens = tokens;
    }

    private Token at(int index) {
        return tokens.get(Math.min(index, tokens.size() - 1));
    }

    Token peek() {
        return at(at);
    }

    Token next() {
        Token token = at(at);
        at = Math.min(at + 1, tokens.size() - 1);
        return token;
    }

    /** Behind spaces, which stay. */
    Token peekNonSpace() {
        return at(at + (peek().is(Token.Kind.SPACE) ? 1 : 0));
    }

    Token nextNonSpace() {
        if (peek().is(Token.Kind.SPACE)) {
            next();
        }
        return next();
    }

    /** The token behind the next ones, of which one space counts as nothing. */
    Token peekBehind() {
        int index = at + 1;
        return at(at(index).is(Token.Kind.SPACE) ? index + 1 : index);
    }

    /** The first word of the action that comes next; its delimiter where none comes. */
    Token nextAction() {
        return peek().is(Token.Kind.LEFT) ? peekBehind() : peek();
    }

    void expect(Token.Kind kind, String where) {
        Token token = nextNonSpace();
        if (!token.is(kind)) {
            throw unexpected(token, where);
        }
    }

    TemplateFault unexpected(Token token, String where) {
        String shown = token.is(Token.Kind.END) ? "end of the template" : token.text();
        return new TemplateFault("unexpected " + shown + " in " + where, token.at());
    }
}
