package roselle.jinja.syntax;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import roselle.jinja.operation.Arithmetic;
import roselle.jinja.syntax.Expression.CallArguments;
import roselle.jinja.syntax.Expression.Keyword;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.None;

/**
 * Parses expressions by the binding power of their operators, as Pratt did.
 *
 * <p>The powers are Jinja's, which differ from Python's: {@code ~} binds tighter than {@code +}, {@code **} groups to
 * the left, and filters bind tighter than any operator, a sign's operand excepted.
 */
final class ExpressionParser {
    private static final int OR = 1;
    private static final int AND = 2;
    private static final int NOT = 3;
    private static final int COMPARE = 4;
    private static final int SUM = 5;
    private static final int CONCATENATION = 6;
    private static final int PRODUCT = 7;
    private static final int POWER = 8;
    private static final Expression NONE = new Expression.Literal(None.NONE, 0);

    private final TokenStream tokens;
    private final PrimaryParser primaries;
    private final IdentityHashMap<Expression, Integer> heights = new IdentityHashMap<>();

    ExpressionParser(TokenStream tokens) {
        this.tokens = tokens;
        primaries = new PrimaryParser(tokens, this);
    }

    /** A name, a literal, a display or what stands in parentheses. */
    Expression primary() {
        return primaries.primary();
    }

    /** An expression, conditional ones included. */
    Expression expression() {
        tokens.enter();
        int at = tokens.peek().at();
        var result = binary(OR);
        while (tokens.skipName("if")) {
            var test = binary(OR);
            Optional<Expression> otherwise = tokens.skipName("else") ? Optional.of(expression()) : Optional.empty();
            result = grown(new Expression.Conditional(test, result, otherwise, at));
        }
        tokens.leave();
        return result;
    }

    /** An expression that an {@code if} may follow, as after the {@code in} of a loop. */
    Expression unconditional() {
        return binary(OR);
    }

    /** One expression, or several as a tuple; ends before the given name where one is given. */
    Expression tuple(boolean conditional, String end) {
        int at = tokens.peek().at();
        var items = new ArrayList<Expression>();
        boolean isTuple = false;
        while (!isTupleEnd(end)) {
            items.add(conditional ? expression() : unconditional());
            if (!tokens.skipOperator(",")) {
                break;
            }
            isTuple = true;
        }
        if (items.isEmpty()) {
            throw tokens.unexpected("an expression");
        }
        return isTuple ? grown(new Expression.TupleDisplay(items, at)) : items.getFirst();
    }

    boolean isTupleEnd(String end) {
        return tokens.isAt(Token.Kind.PRINT_END)
                || tokens.isAt(Token.Kind.BLOCK_END)
                || tokens.isAtOperator(")")
                || tokens.isAtName(end);
    }

    private Expression binary(int power) {
        if (power == NOT && tokens.isAtName("not")) {
            return not();
        }
        int at = tokens.peek().at();
        // The operands of the tightest operator are unary; all others' are one power tighter.
        var left = power > POWER ? unary(true) : binary(power + 1);
        return switch (power) {
            case COMPARE -> comparison(left, at);
            case CONCATENATION -> concatenation(left, at);
            case NOT -> left;
            default -> leftAssociative(left, power);
        };
    }

    private Expression not() {
        tokens.enter();
        int at = tokens.next().at();
        var result = grown(new Expression.Not(binary(NOT), at));
        tokens.leave();
        return result;
    }

    private Expression leftAssociative(Expression first, int power) {
        var left = first;
        while (powerOf(tokens.peek()) == power) {
            var operator = tokens.next();
            var right = binary(power + 1);
            left = grown(
                    switch (operator.text()) {
                        case "or" -> new Expression.Or(left, right, operator.at());
                        case "and" -> new Expression.And(left, right, operator.at());
                        default -> new Expression.Binary(arithmetic(operator.text()), left, right, operator.at());
                    });
        }
        return left;
    }

    private static int powerOf(Token token) {
        if (token.kind() == Token.Kind.NAME) {
            return token.text().equals("or") ? OR : token.text().equals("and") ? AND : 0;
        }
        if (token.kind() != Token.Kind.OPERATOR) {
            return 0;
        }
        return switch (token.text()) {
            case "+", "-" -> SUM;
            case "*", "/", "//", "%" -> PRODUCT;
            case "**" -> POWER;
            default -> 0;
        };
    }

    private static Arithmetic.Operator arithmetic(String text) {
        return switch (text) {
            case "+" -> Arithmetic.Operator.ADD;
            case "-" -> Arithmetic.Operator.SUBTRACT;
            case "*" -> Arithmetic.Operator.MULTIPLY;
            case "/" -> Arithmetic.Operator.DIVIDE;
            case "//" -> Arithmetic.Operator.FLOOR_DIVIDE;
            case "%" -> Arithmetic.Operator.MODULO;
            default -> Arithmetic.Operator.POWER;
        };
    }

    private Expression comparison(Expression first, int at) {
        var operands = new ArrayList<>(List.of(first));
        var operators = new ArrayList<String>();
        for (String operator = comparisonOperator(); !operator.isEmpty(); operator = comparisonOperator()) {
            operators.add(operator);
            operands.add(binary(SUM));
        }
        return operators.isEmpty() ? first : grown(new Expression.Compare(operands, operators, at));
    }

    /** Steps past an operator that compares; empty where there is none. */
    private String comparisonOperator() {
        if (tokens.skipName("in")) {
            return "in";
        }
        if (tokens.isAtName("not") && tokens.peekSecond().isName("in")) {
            tokens.next();
            tokens.next();
            return "not in";
        }
        boolean compares = tokens.isAt(Token.Kind.OPERATOR)
                && List.of("==", "!=", "<", "<=", ">", ">=")
                        .contains(tokens.peek().text());
        return compares ? tokens.next().text() : "";
    }

    private Expression concatenation(Expression first, int at) {
        if (!tokens.isAtOperator("~")) {
            return first;
        }
        var parts = new ArrayList<>(List.of(first));
        while (tokens.skipOperator("~")) {
            parts.add(binary(PRODUCT));
        }
        return grown(new Expression.Concatenation(parts, at));
    }

    private Expression unary(boolean withFilter) {
        int at = tokens.peek().at();
        Expression result;
        if (tokens.isAtOperator("-") || tokens.isAtOperator("+")) {
            tokens.enter();
            var sign = tokens.next().text().equals("-") ? Expression.Sign.MINUS : Expression.Sign.PLUS;
            result = grown(new Expression.Signed(sign, unary(false), at));
            tokens.leave();
        } else {
            result = primary();
        }
        result = postfix(result);
        return withFilter ? filtered(result) : result;
    }

    private Expression postfix(Expression first) {
        var result = first;
        while (true) {
            if (tokens.isAtOperator(".")) {
                result = grown(attribute(result));
            } else if (tokens.isAtOperator("[")) {
                result = grown(subscript(result));
            } else if (tokens.isAtOperator("(")) {
                result = grown(call(result));
            } else {
                return result;
            }
        }
    }

    private Expression filtered(Expression first) {
        var result = first;
        while (true) {
            if (tokens.isAtOperator("|")) {
                tokens.next();
                result = filter(Optional.of(result));
            } else if (tokens.isAtName("is")) {
                result = test(result);
            } else if (tokens.isAtOperator("(")) {
                result = grown(call(result));
            } else {
                return result;
            }
        }
    }

    private Expression attribute(Expression owner) {
        int at = tokens.next().at();
        var token = tokens.next();
        return switch (token.kind()) {
            case NAME -> new Expression.Attribute(owner, token.text(), at);
            case INTEGER ->
                new Expression.Item(owner, new Expression.Literal(PrimaryParser.integer(token), token.at()), at);
            default -> throw new TemplateFault("expected a name or number after '.'", token.at());
        };
    }

    private Expression subscript(Expression owner) {
        int at = tokens.next().at();
        var keys = new ArrayList<Expression>();
        while (!tokens.isAtOperator("]")) {
            if (!keys.isEmpty()) {
                tokens.expectOperator(",");
            }
            keys.add(key());
        }
        tokens.next();
        if (keys.size() != 1 && keys.stream().anyMatch(Expression.Slice.class::isInstance)) {
            throw new TemplateFault("a slice stands alone between its brackets", at);
        }
        var key = keys.size() == 1 ? keys.getFirst() : grown(new Expression.TupleDisplay(keys, at));
        return new Expression.Item(owner, key, at);
    }

    private Expression key() {
        int at = tokens.peek().at();
        var start = tokens.isAtOperator(":") ? NONE : expression();
        if (!tokens.skipOperator(":")) {
            return start;
        }
        var stop = slicePart();
        var step = tokens.skipOperator(":") ? slicePart() : NONE;
        return grown(new Expression.Slice(start, stop, step, at));
    }

    private Expression slicePart() {
        boolean isEmpty = tokens.isAtOperator(":") || tokens.isAtOperator("]") || tokens.isAtOperator(",");
        return isEmpty ? NONE : expression();
    }

    private Expression call(Expression callee) {
        int at = tokens.peek().at();
        return new Expression.Call(callee, arguments(), at);
    }

    /** A filter from its name on. */
    Expression.Filter filter(Optional<Expression> input) {
        int at = tokens.peek().at();
        String name = dottedName();
        var arguments = tokens.isAtOperator("(") ? arguments() : CallArguments.NONE;
        return grown(new Expression.Filter(input, name, arguments, at));
    }

    private Expression test(Expression input) {
        int at = tokens.next().at();
        boolean negated = tokens.skipName("not");
        var test = grown(new Expression.Test(input, dottedName(), testArguments(), at));
        return negated ? grown(new Expression.Not(test, at)) : test;
    }

    private CallArguments testArguments() {
        if (tokens.isAtOperator("(")) {
            return arguments();
        }
        if (!startsOperand()) {
            return CallArguments.NONE;
        }
        if (tokens.isAtName("is")) {
            throw new TemplateFault(
                    "tests cannot be chained with 'is'", tokens.peek().at());
        }
        return new CallArguments(List.of(postfix(primary())), List.of(), Optional.empty(), Optional.empty());
    }

    private boolean startsOperand() {
        return switch (tokens.peek().kind()) {
            case NAME -> !tokens.isAtName("else") && !tokens.isAtName("or") && !tokens.isAtName("and");
            case STRING, INTEGER, FLOAT -> true;
            default -> tokens.isAtOperator("[") || tokens.isAtOperator("{");
        };
    }

    private String dottedName() {
        var name = new StringBuilder(tokens.expect(Token.Kind.NAME).text());
        while (tokens.skipOperator(".")) {
            name.append('.').append(tokens.expect(Token.Kind.NAME).text());
        }
        return name.toString();
    }

    private CallArguments arguments() {
        int at = tokens.next().at();
        var positional = new ArrayList<Expression>();
        var named = new ArrayList<Keyword>();
        Optional<Expression> spreadPositional = Optional.empty();
        Optional<Expression> spreadNamed = Optional.empty();
        while (!tokens.skipOperator(")")) {
            boolean inOrder = spreadNamed.isEmpty();
            if (tokens.skipOperator("*")) {
                inOrder &= spreadPositional.isEmpty();
                spreadPositional = Optional.of(expression());
            } else if (tokens.skipOperator("**")) {
                spreadNamed = Optional.of(expression());
            } else if (tokens.isAt(Token.Kind.NAME) && tokens.peekSecond().isOperator("=")) {
                named.add(keyword());
            } else {
                inOrder &= spreadPositional.isEmpty() && named.isEmpty();
                positional.add(expression());
            }
            if (!inOrder) {
                throw new TemplateFault("the arguments of the call stand in the wrong order", at);
            }
            if (!tokens.isAtOperator(")")) {
                tokens.expectOperator(",");
            }
        }
        return new CallArguments(positional, named, spreadPositional, spreadNamed);
    }

    private Keyword keyword() {
        String name = tokens.next().text();
        tokens.next();
        return new Keyword(name, expression());
    }

    /** Keeps trees low enough to be walked recursively, whatever the shape that makes them high. */
    <E extends Expression> E grown(E node) {
        int height = 1;
        for (var child : node.children()) {
            height = Math.max(height, 1 + heights.getOrDefault(child, 1));
        }
        if (height > Limits.NESTING) {
            throw new TemplateFault(
                    "an expression has more than " + Limits.NESTING + " operations in a row", node.at());
        }
        heights.put(node, height);
        return node;
    }
}
