package roselle.gotemplate.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import roselle.gotemplate.syntax.Pipeline.Command;
import roselle.gotemplate.value.Nil;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** Parses what stands in actions, and knows which variables there are. */
final class PipelineParser {
    /** Words that are no functions. */
    private static final Set<String> KEYWORDS =
            Set.of("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with");

    /** That are known at a place: each look for one goes through them. */
    private static final int MOST_VARIABLES = 256;

    private final TokenStream tokens;
    private final Set<String> functions;
    private List<String> variables = new ArrayList<>(List.of("$"));
    private int depth;

    PipelineParser(TokenStream tokens, Set<String> functions) {
        this.tokens = tokens;
        this.functions = functions;
    }

    int mark() {
        return variables.size();
    }

    void forget(int mark) {
        variables.subList(mark, variables.size()).clear();
    }

    /** Forgets all variables but the one of all data; returns what there were. */
    List<String> enterDefinition() {
        List<String> outside = variables;
        variables = new ArrayList<>(List.of("$"));
        return outside;
    }

    void leaveDefinition(List<String> outside) {
        variables = outside;
    }

    /** A pipeline with its end; the context is what errors call it. */
    Pipeline parse(String context, Token.Kind end) {
        int at = tokens.peekNonSpace().at();
        List<String> declared = new ArrayList<>();
        boolean assigns = declarations(context, declared);
        List<Command> commands = new ArrayList<>();
        while (!tokens.peekNonSpace().is(end)) {
            commands.add(command(context));
        }
        tokens.nextNonSpace();
        requireExecutable(commands, context, at);
        return new Pipeline(List.copyOf(declared), assigns, List.copyOf(commands), at);
    }

    private boolean declarations(String context, List<String> declared) {
        while (tokens.peekNonSpace().is(Token.Kind.VARIABLE)) {
            if (tokens.peek().is(Token.Kind.SPACE)) {
                tokens.next();
            }
            Token behind = tokens.peekBehind();
            boolean isList = behind.is(Token.Kind.COMMA);
            if (!isList && !behind.is(Token.Kind.ASSIGN) && !behind.is(Token.Kind.DECLARE)) {
                requireNoList(declared);
                return false;
            }
            Token name = tokens.next();
            tokens.nextNonSpace();
            if (isList && (!context.equals("range") || !declared.isEmpty())) {
                throw new TemplateFault("too many variables in " + context, name.at());
            }
            declared.add(name.text());
            declare(name);
            if (!isList) {
                return behind.is(Token.Kind.ASSIGN);
            }
        }
        requireNoList(declared);
        return false;
    }

    private void declare(Token name) {
        if (variables.size() == MOST_VARIABLES) {
            throw new TemplateFault("there are more than " + MOST_VARIABLES + " variables", name.at());
        }
        variables.add(name.text());
    }

    private void requireNoList(List<String> declared) {
        if (!declared.isEmpty()) {
            throw new TemplateFault(
                    "range can only initialize variables", tokens.peek().at());
        }
    }

    private static void requireExecutable(List<Command> commands, String context, int at) {
        if (commands.isEmpty()) {
            throw new TemplateFault("missing value for " + context, at);
        }
        for (Command command : commands.subList(1, commands.size())) {
            Term first = command.terms().getFirst();
            if (first instanceof Term.Literal || first instanceof Term.Dot) {
                throw new TemplateFault("a value has no place behind |: a function is called there", first.at());
            }
        }
    }

    private Command command(String context) {
        List<Term> terms = new ArrayList<>();
        while (true) {
            Token first = tokens.peekNonSpace();
            if (!isOperand(first)) {
                break;
            }
            terms.add(operand());
            if (!tokens.peek().is(Token.Kind.SPACE)) {
                break;
            }
        }
        Token end = tokens.peekNonSpace();
        if (terms.isEmpty()) {
            throw tokens.unexpected(end, context);
        }
        if (end.is(Token.Kind.PIPE)) {
            tokens.nextNonSpace();
        } else if (!end.is(Token.Kind.RIGHT) && !end.is(Token.Kind.CLOSE)) {
            throw tokens.unexpected(end, "an operand");
        }
        return new Command(List.copyOf(terms));
    }

    private static boolean isOperand(Token token) {
        return switch (token.kind()) {
            case WORD, DOT, FIELD, VARIABLE, NUMBER, CHARACTER, STRING, RAW_STRING, OPEN -> true;
            default -> false;
        };
    }

    private Term operand() {
        Term term = term();
        List<String> names = new ArrayList<>();
        while (tokens.peek().is(Token.Kind.FIELD)) {
            names.add(tokens.next().text().substring(1));
        }
        if (names.isEmpty()) {
            return term;
        }
        return switch (term) {
            case Term.Field(var first, int at) -> new Term.Field(joined(first, names), at);
            case Term.Variable(var name, var first, int at) -> new Term.Variable(name, joined(first, names), at);
            case Term.Literal _, Term.Dot _ -> throw new TemplateFault("unexpected . behind a value", term.at());
            default -> new Term.Chain(term, names, term.at());
        };
    }

    private static List<String> joined(List<String> first, List<String> more) {
        List<String> all = new ArrayList<>(first);
        all.addAll(more);
        return all;
    }

    private Term term() {
        Token token = tokens.nextNonSpace();
        int at = token.at();
        return switch (token.kind()) {
            case WORD -> word(token);
            case DOT -> new Term.Dot(at);
            case FIELD -> new Term.Field(List.of(token.text().substring(1)), at);
            case VARIABLE -> new Term.Variable(known(token), List.of(), at);
            case NUMBER -> new Term.Literal(Literals.number(token), at);
            case CHARACTER -> new Term.Literal(Literals.character(token), at);
            case STRING, RAW_STRING -> new Term.Literal(Literals.string(token), at);
            case OPEN -> group(at);
            default -> throw tokens.unexpected(token, "an operand");
        };
    }

    private Term word(Token token) {
        String word = token.text();
        if (KEYWORDS.contains(word)) {
            throw tokens.unexpected(token, "an operand");
        }
        return switch (word) {
            case "true" -> new Term.Literal(true, token.at());
            case "false" -> new Term.Literal(false, token.at());
            case "nil" -> new Term.Literal(Nil.NIL, token.at());
            default -> {
                if (!functions.contains(word)) {
                    throw new TemplateFault("there is no function " + word, token.at());
                }
                yield new Term.Function(word, token.at());
            }
        };
    }

    private String known(Token token) {
        if (!variables.contains(token.text())) {
            throw new TemplateFault("undefined variable " + token.text(), token.at());
        }
        return token.text();
    }

    private Term group(int at) {
        if (++depth > Limits.NESTING) {
            throw new TemplateFault("parentheses are nested too deeply", at);
        }
        Pipeline pipeline = parse("parentheses", Token.Kind.CLOSE);
        depth--;
        return new Term.Group(pipeline, at);
    }
}
