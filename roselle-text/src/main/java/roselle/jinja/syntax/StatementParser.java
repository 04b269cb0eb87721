package roselle.jinja.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.jinja.syntax.Statement.Signature;
import roselle.jinja.syntax.Statement.Target;
import roselle.jinja.text.TemplateFault;

/** Parses a template: text, prints and blocks. */
public final class StatementParser {
    private final TokenStream tokens;
    private final ExpressionParser expressions;
    /** How many loops are open around the tag that is being read. */
    private int loops;

    private StatementParser(TokenStream tokens) {
        this.tokens = tokens;
        expressions = new ExpressionParser(tokens);
    }

    /** Parses a normalized source. */
    public static List<Statement> parse(String source) {
        return new StatementParser(new TokenStream(Lexer.tokenize(source))).statements("the template", List.of());
    }

    /** Statements up to one of the tags that end them, of which the name is left to be read. */
    private List<Statement> statements(String owner, List<String> ends) {
        int start = tokens.peek().at();
        tokens.enter();
        var statements = new ArrayList<Statement>();
        while (!tokens.isAt(Token.Kind.END)) {
            var token = tokens.next();
            switch (token.kind()) {
                case TEXT -> statements.add(new Statement.Output(token.text(), token.at()));
                case PRINT_BEGIN -> {
                    statements.add(new Statement.Print(expressions.tuple(true, ""), token.at()));
                    tokens.expect(Token.Kind.PRINT_END);
                }
                default -> {
                    if (tokens.isAt(Token.Kind.NAME)
                            && ends.contains(tokens.peek().text())) {
                        tokens.leave();
                        return statements;
                    }
                    statements.addAll(statement(token.at(), owner, ends));
                    tokens.expect(Token.Kind.BLOCK_END);
                }
            }
        }
        tokens.leave();
        if (!ends.isEmpty()) {
            throw new TemplateFault("'" + owner + "' is not closed: expected " + String.join(" or ", ends), start);
        }
        return statements;
    }

    private List<Statement> statement(int at, String owner, List<String> ends) {
        var tag = tokens.expect(Token.Kind.NAME);
        return switch (tag.text()) {
            case "for" -> List.of(loop(at));
            case "if" -> List.of(condition(at));
            case "set" -> List.of(assignment(at));
            case "macro" -> List.of(macro(at));
            case "call" -> List.of(callBlock(at));
            case "filter" -> List.of(filterBlock(at));
            case "with" -> List.of(with(at));
            case "print" -> prints(at);
            case "generation" -> List.of(new Statement.Generation(body("generation", "endgeneration"), at));
            case "break" -> List.of(new Statement.Break(at));
            case "continue" -> List.of(new Statement.Continue(at));
            case "include", "import", "from", "extends", "block", "autoescape" ->
                throw new TemplateFault(
                        "'" + tag.text() + "' is not available: a chat template is one file without includes", at);
            default -> throw unknownTag(tag, owner, ends);
        };
    }

    private static TemplateFault unknownTag(Token tag, String owner, List<String> ends) {
        String wanted = ends.isEmpty() ? "" : "; '" + owner + "' is to be closed by " + String.join(" or ", ends);
        return new TemplateFault("unknown tag '" + tag.text() + "'" + wanted, tag.at());
    }

    /** The body after a tag, through the tag that ends it. */
    private List<Statement> body(String owner, String end) {
        beginBody();
        var body = statements(owner, List.of(end));
        tokens.next();
        return body;
    }

    private void beginBody() {
        tokens.skipOperator(":");
        tokens.expect(Token.Kind.BLOCK_END);
    }

    private Statement loop(int at) {
        loops++;
        var target = target("in", false);
        refuseLoopVariable(target);
        if (!tokens.skipName("in")) {
            throw tokens.unexpected("'in'");
        }
        var iterable = expressions.tuple(false, "recursive");
        Optional<Expression> test = tokens.skipName("if") ? Optional.of(expressions.expression()) : Optional.empty();
        boolean recursive = tokens.skipName("recursive");
        beginBody();
        var body = statements("for", List.of("endfor", "else"));
        boolean hasElse = tokens.next().isName("else");
        List<Statement> otherwise = hasElse ? body("for", "endfor") : List.of();
        loops--;
        return new Statement.For(target, iterable, test, recursive, body, otherwise, at);
    }

    private Statement condition(int at) {
        var branches = new ArrayList<Statement.Branch>();
        while (true) {
            var test = expressions.tuple(false, "");
            beginBody();
            branches.add(new Statement.Branch(test, statements("if", List.of("elif", "else", "endif"))));
            var end = tokens.next();
            if (end.isName("else")) {
                return new Statement.If(branches, body("if", "endif"), at);
            }
            if (end.isName("endif")) {
                return new Statement.If(branches, List.of(), at);
            }
        }
    }

    private Statement assignment(int at) {
        var target = target("", true);
        refuseLoopVariable(target);
        if (tokens.skipOperator("=")) {
            return new Statement.Assign(target, expressions.tuple(true, ""), at);
        }
        var filter = filters();
        return new Statement.AssignBlock(target, filter, body("set", "endset"), at);
    }

    /** Filters after bars, the innermost of which has no input. */
    private Optional<Expression.Filter> filters() {
        Optional<Expression.Filter> filter = Optional.empty();
        while (tokens.skipOperator("|")) {
            filter = Optional.of(expressions.filter(filter.map(Expression.class::cast)));
        }
        return filter;
    }

    private Statement macro(int at) {
        String name = parameter().name();
        var signature = signature();
        return new Statement.MacroDefinition(name, signature, body("macro", "endmacro"), at);
    }

    private Statement callBlock(int at) {
        var signature = tokens.isAtOperator("(") ? signature() : Signature.EMPTY;
        if (!(expressions.expression() instanceof Expression.Call call)) {
            throw new TemplateFault("'call' needs a call", at);
        }
        return new Statement.CallBlock(signature, call, body("call", "endcall"), at);
    }

    private Statement filterBlock(int at) {
        var filter = expressions.filter(Optional.empty());
        while (tokens.skipOperator("|")) {
            filter = expressions.filter(Optional.of(filter));
        }
        return new Statement.FilterBlock(filter, body("filter", "endfilter"), at);
    }

    private Signature signature() {
        tokens.expectOperator("(");
        var parameters = new ArrayList<Expression.Name>();
        var defaults = new ArrayList<Expression>();
        while (!tokens.skipOperator(")")) {
            if (!parameters.isEmpty()) {
                tokens.expectOperator(",");
            }
            var parameter = parameter();
            if (tokens.skipOperator("=")) {
                defaults.add(expressions.expression());
            } else if (!defaults.isEmpty()) {
                throw new TemplateFault("a parameter without default follows one with a default", parameter.at());
            }
            if (parameters.stream().anyMatch(other -> other.name().equals(parameter.name()))) {
                throw new TemplateFault("the parameter '" + parameter.name() + "' is declared twice", parameter.at());
            }
            parameters.add(parameter);
        }
        return new Signature(parameters, defaults);
    }

    private Expression.Name parameter() {
        var token = tokens.expect(Token.Kind.NAME);
        checkName(token.text(), token.at());
        return new Expression.Name(token.text(), token.at());
    }

    private Statement with(int at) {
        var targets = new ArrayList<Target>();
        var values = new ArrayList<Expression>();
        while (!tokens.isAt(Token.Kind.BLOCK_END) && !tokens.isAtOperator(":")) {
            if (!targets.isEmpty()) {
                tokens.expectOperator(",");
            }
            targets.add(target("", false));
            tokens.expectOperator("=");
            values.add(expressions.expression());
        }
        return new Statement.With(targets, values, body("with", "endwith"), at);
    }

    private List<Statement> prints(int at) {
        var prints = new ArrayList<Statement>();
        while (!tokens.isAt(Token.Kind.BLOCK_END)) {
            if (!prints.isEmpty()) {
                tokens.expectOperator(",");
            }
            prints.add(new Statement.Print(expressions.expression(), at));
        }
        return prints;
    }

    /** A name, names as a tuple, or the attribute of a namespace. */
    private Target target(String end, boolean withNamespace) {
        int at = tokens.peek().at();
        var targets = new ArrayList<Target>();
        boolean isTuple = false;
        while (!expressions.isTupleEnd(end)) {
            targets.add(singleTarget(withNamespace));
            if (!tokens.skipOperator(",")) {
                break;
            }
            isTuple = true;
        }
        if (targets.isEmpty()) {
            throw tokens.unexpected("a name to assign to");
        }
        return isTuple ? new Statement.TupleTarget(targets, at) : targets.getFirst();
    }

    private Target singleTarget(boolean withNamespace) {
        var token = tokens.peek();
        if (withNamespace
                && token.kind() == Token.Kind.NAME
                && tokens.peekSecond().isOperator(".")) {
            checkName(token.text(), token.at());
            tokens.next();
            tokens.next();
            String attribute = tokens.expect(Token.Kind.NAME).text();
            return new Statement.NamespaceTarget(token.text(), attribute, token.at());
        }
        return assignable(expressions.primary());
    }

    private static Target assignable(Expression expression) {
        return switch (expression) {
            case Expression.Name(String name, int at) -> {
                checkName(name, at);
                yield new Statement.NameTarget(name, at);
            }
            case Expression.TupleDisplay(var items, int at) ->
                new Statement.TupleTarget(
                        items.stream().map(StatementParser::assignable).toList(), at);
            default -> throw new TemplateFault("this cannot be assigned to", expression.at());
        };
    }

    private void refuseLoopVariable(Target target) {
        switch (target) {
            case Statement.NameTarget name -> {
                if (loops > 0 && name.name().equals("loop")) {
                    throw new TemplateFault("the variable 'loop' of a loop cannot be assigned to", name.at());
                }
            }
            case Statement.TupleTarget tuple -> tuple.targets().forEach(this::refuseLoopVariable);
            case Statement.NamespaceTarget _ -> {}
        }
    }

    private static void checkName(String name, int at) {
        if (List.of("true", "false", "none", "True", "False", "None").contains(name)) {
            throw new TemplateFault("'" + name + "' cannot be assigned to", at);
        }
    }
}
