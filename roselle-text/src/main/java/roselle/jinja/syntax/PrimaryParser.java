package roselle.jinja.syntax;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import roselle.jinja.text.Limits;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.None;

/** Parses what operators stand between: names, literals, displays and parentheses. */
final class PrimaryParser {
    private final TokenStream tokens;
    private final ExpressionParser expressions;

    PrimaryParser(TokenStream tokens, ExpressionParser expressions) {
        this.tokens = tokens;
        this.expressions = expressions;
    }

    Expression primary() {
        var token = tokens.peek();
        return switch (token.kind()) {
            case NAME -> name(tokens.next());
            case STRING -> strings();
            case INTEGER -> new Expression.Literal(integer(tokens.next()), token.at());
            case FLOAT -> new Expression.Literal(Double.valueOf(tokens.next().text()), token.at());
            default ->
                switch (token.kind() == Token.Kind.OPERATOR ? token.text() : "") {
                    case "(" -> parenthesized();
                    case "[" -> list();
                    case "{" -> dictionary();
                    default -> throw new TemplateFault("unexpected " + token.described(), token.at());
                };
        };
    }

    private static Expression name(Token token) {
        return switch (token.text()) {
            case "true", "True" -> new Expression.Literal(true, token.at());
            case "false", "False" -> new Expression.Literal(false, token.at());
            case "none", "None" -> new Expression.Literal(None.NONE, token.at());
            default -> new Expression.Name(token.text(), token.at());
        };
    }

    private Expression strings() {
        int at = tokens.peek().at();
        var text = new StringBuilder();
        while (tokens.isAt(Token.Kind.STRING)) {
            text.append(tokens.next().text());
        }
        return new Expression.Literal(text.toString(), at);
    }

    static Object integer(Token token) {
        String digits = token.text();
        if (digits.length() > Limits.PRINTED_DIGITS) {
            throw new TemplateFault("an integer of " + digits.length() + " digits is too long", token.at());
        }
        int radix = switch (digits.length() > 1 ? Character.toLowerCase(digits.charAt(1)) : '0') {
            case 'x' -> 16;
            case 'o' -> 8;
            case 'b' -> 2;
            default -> 10;
        };
        return Numbers.normal(new BigInteger(radix == 10 ? digits : digits.substring(2), radix));
    }

    private Expression parenthesized() {
        int at = tokens.next().at();
        Expression result =
                expressions.isTupleEnd("") ? new Expression.TupleDisplay(List.of(), at) : expressions.tuple(true, "");
        tokens.expectOperator(")");
        return result;
    }

    private Expression list() {
        int at = tokens.next().at();
        var items = new ArrayList<Expression>();
        while (!tokens.skipOperator("]")) {
            items.add(expressions.expression());
            if (!tokens.isAtOperator("]")) {
                tokens.expectOperator(",");
            }
        }
        return expressions.grown(new Expression.ListDisplay(items, at));
    }

    private Expression dictionary() {
        int at = tokens.next().at();
        var keys = new ArrayList<Expression>();
        var values = new ArrayList<Expression>();
        while (!tokens.skipOperator("}")) {
            keys.add(expressions.expression());
            tokens.expectOperator(":");
            values.add(expressions.expression());
            if (!tokens.isAtOperator("}")) {
                tokens.expectOperator(",");
            }
        }
        return expressions.grown(new Expression.DictionaryDisplay(keys, values, at));
    }
}
