package roselle.gotemplate.syntax;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.gotemplate.syntax.Node.Kind;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** Tokens to nodes. Variables and functions that do not exist are found here, as Go finds them. */
public final class Parser {
    private final TokenStream tokens;
    private final PipelineParser pipelines;
    private final Map<String, List<Node>> defined = new LinkedHashMap<>();
    private int loops;
    private int depth;

    private Parser(String source, Set<String> functions) {
        tokens = new TokenStream(Lexer.tokens(source));
        pipelines = new PipelineParser(tokens, functions);
    }

    /**
     * Parses a template.
     *
     * @param functions names of those that it may call
     * @throws TemplateFault at an offset
     */
    public static Templates parse(String source, Set<String> functions) {
        var parser = new Parser(source, functions);
        List<Node> root = parser.root();
        return new Templates(root, parser.defined);
    }

    private List<Node> root() {
        List<Node> nodes = new ArrayList<>();
        while (!tokens.peek().is(Token.Kind.END)) {
            if (tokens.nextAction().isWord("define")) {
                define();
                continue;
            }
            requireNoEnd();
            nodes.add(node());
        }
        return nodes;
    }

    private void requireNoEnd() {
        Token word = tokens.nextAction();
        if (word.isWord("end") || word.isWord("else")) {
            throw new TemplateFault("unexpected {{" + word.text() + "}}", word.at());
        }
    }

    private void define() {
        tokens.next(); // the left delimiter
        tokens.nextNonSpace();
        String name = templateName("define");
        tokens.expect(Token.Kind.RIGHT, "{{define}}");
        body(name, tokens.peek().at());
    }

    /** What a definition has up to its end; variables outside are unknown in it. */
    private void body(String name, int at) {
        List<String> outside = pipelines.enterDefinition();
        int outer = loops;
        loops = 0;
        List<Node> nodes = list(at);
        loops = outer;
        pipelines.leaveDefinition(outside);
        expectEnd();
        List<Node> before = defined.get(name);
        if (before != null && !isBlank(before) && !isBlank(nodes)) {
            throw new TemplateFault("the template " + name + " is defined twice", at);
        }
        if (before == null || isBlank(before)) {
            defined.put(name, nodes);
        }
    }

    private static boolean isBlank(List<Node> nodes) {
        return nodes.stream()
                .allMatch(node -> node instanceof Node.Text text && text.text().isBlank());
    }

    private String templateName(String where) {
        Token name = tokens.nextNonSpace();
        if (!name.is(Token.Kind.STRING) && !name.is(Token.Kind.RAW_STRING)) {
            throw tokens.unexpected(name, where);
        }
        return Literals.string(name);
    }

    /** Nodes up to {@code end} or {@code else}, which stays. */
    private List<Node> list(int begin) {
        if (++depth > Limits.NESTING) {
            throw new TemplateFault("actions are nested too deeply", begin);
        }
        List<Node> nodes = new ArrayList<>();
        while (true) {
            Token word = tokens.nextAction();
            if (tokens.peek().is(Token.Kind.END)) {
                throw new TemplateFault("this has no {{end}}", begin);
            }
            if (word.isWord("end") || word.isWord("else")) {
                depth--;
                return nodes;
            }
            nodes.add(node());
        }
    }

    private Node node() {
        Token token = tokens.next();
        if (token.is(Token.Kind.TEXT)) {
            return new Node.Text(token.text(), token.at());
        }
        Token word = tokens.peekNonSpace();
        if (!word.is(Token.Kind.WORD)) {
            return action(word.at());
        }
        return switch (word.text()) {
            case "if" -> branch(Kind.IF);
            case "with" -> branch(Kind.WITH);
            case "range" -> branch(Kind.RANGE);
            case "template" -> call();
            case "block" -> block();
            case "break", "continue" -> jump();
            case "define" -> throw tokens.unexpected(word, "an action: definitions stand outside of others");
            default -> action(word.at());
        };
    }

    private Node action(int at) {
        return new Node.Action(pipelines.parse("command", Token.Kind.RIGHT), at);
    }

    private Node jump() {
        Token word = tokens.nextNonSpace();
        tokens.expect(Token.Kind.RIGHT, "{{" + word.text() + "}}");
        if (loops == 0) {
            throw new TemplateFault("{{" + word.text() + "}} outside {{range}}", word.at());
        }
        return new Node.Jump(word.isWord("continue"), word.at());
    }

    private Node call() {
        Token word = tokens.nextNonSpace();
        String name = templateName("template");
        Optional<Pipeline> pipeline = Optional.empty();
        if (tokens.peekNonSpace().is(Token.Kind.RIGHT)) {
            tokens.nextNonSpace();
        } else {
            pipeline = Optional.of(pipelines.parse("template", Token.Kind.RIGHT));
        }
        return new Node.Call(name, pipeline, word.at());
    }

    private Node block() {
        Token word = tokens.nextNonSpace();
        String name = templateName("block");
        Pipeline pipeline = pipelines.parse("block", Token.Kind.RIGHT);
        body(name, word.at());
        return new Node.Call(name, Optional.of(pipeline), word.at());
    }

    private Node branch(Kind kind) {
        Token word = tokens.nextNonSpace();
        int outside = pipelines.mark();
        Pipeline pipeline = pipelines.parse(word.text(), Token.Kind.RIGHT);
        loops += kind == Kind.RANGE ? 1 : 0;
        List<Node> body = list(word.at());
        loops -= kind == Kind.RANGE ? 1 : 0;
        List<Node> otherwise = otherwise(kind, word.at());
        pipelines.forget(outside);
        return new Node.Branch(kind, pipeline, body, otherwise, word.at());
    }

    /** Up to the end of a branch, with the end. */
    private List<Node> otherwise(Kind kind, int at) {
        if (!tokens.nextAction().isWord("else")) {
            expectEnd();
            return List.of();
        }
        tokens.next();
        tokens.nextNonSpace(); // else
        Token next = tokens.peekNonSpace();
        if ((kind == Kind.IF && next.isWord("if")) || (kind == Kind.WITH && next.isWord("with"))) {
            if (++depth > Limits.NESTING) {
                throw new TemplateFault("actions are nested too deeply", next.at());
            }
            Node rest = branch(kind);
            depth--;
            return List.of(rest);
        }
        tokens.expect(Token.Kind.RIGHT, "{{else}}");
        List<Node> nodes = list(at);
        expectEnd();
        return nodes;
    }

    private void expectEnd() {
        tokens.next();
        Token word = tokens.nextNonSpace();
        if (!word.isWord("end")) {
            throw tokens.unexpected(word, "the place of {{end}}");
        }
        tokens.expect(Token.Kind.RIGHT, "{{end}}");
    }
}
