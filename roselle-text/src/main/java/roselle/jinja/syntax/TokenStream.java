package roselle.jinja.syntax;

import java.util.List;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** Tokens with a place in them, and the nesting of what is being parsed. */
final class TokenStream {
    private final List<Token> tokens;
    private int place;
    private int nesting;

    TokenStream(List<Token> tokens) {
        this.tokens = tokens;
    }

    Token peek() {
        return tokens.get(place);
    }

    Token peekSecond() {
        return tokens.get(Math.min(place + 1, tokens.size() - 1));
    }

    Token next() {
        var token = peek();
        place = Math.min(place + 1, tokens.size() - 1);
        return token;
    }

    boolean isAt(Token.Kind kind) {
        return peek().kind() == kind;
    }

    boolean isAtOperator(String operator) {
        return peek().isOperator(operator);
    }

    boolean isAtName(String name) {
        return peek().isName(name);
    }

    boolean skipOperator(String operator) {
        boolean found = isAtOperator(operator);
        if (found) {
            next();
        }
        return found;
    }

    boolean skipName(String name) {
        boolean found = isAtName(name);
        if (found) {
            next();
        }
        return found;
    }

    Token expect(Token.Kind kind) {
        if (!isAt(kind)) {
            throw unexpected(new Token(kind, "name", 0).described());
        }
        return next();
    }

    void expectOperator(String operator) {
        if (!skipOperator(operator)) {
            throw unexpected("'" + operator + "'");
        }
    }

    TemplateFault unexpected(String expected) {
        return new TemplateFault("expected " + expected + ", got " + peek().described(), peek().at());
    }

    /** Counts a level of nesting; each needs its {@code leave}. */
    void enter() {
        if (++nesting > Limits.NESTING) {
            throw new TemplateFault("the template is nested more than " + Limits.NESTING + " levels deep", peek().at());
        }
    }

    void leave() {
        nesting--;
    }
}
