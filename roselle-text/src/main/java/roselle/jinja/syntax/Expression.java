package roselle.jinja.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.jinja.operation.Arithmetic;

/** A parsed expression. */
public sealed interface Expression {
    /** Offset in the source. */
    int at();

    /** The expressions that it consists of, in the order of the source. */
    List<Expression> children();

    /** A number, string, boolean or none. */
    record Literal(Object value, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of();
        }
    }

    record Name(String name, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of();
        }
    }

    record TupleDisplay(List<Expression> items, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return items;
        }
    }

    record ListDisplay(List<Expression> items, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return items;
        }
    }

    /** A dictionary; keys and values have the same order. */
    record DictionaryDisplay(List<Expression> keys, List<Expression> values, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return joined(keys, values);
        }
    }

    enum Sign {
        PLUS,
        MINUS
    }

    record Signed(Sign sign, Expression operand, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of(operand);
        }
    }

    record Binary(Arithmetic.Operator operator, Expression left, Expression right, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of(left, right);
        }
    }

    record And(Expression left, Expression right, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of(left, right);
        }
    }

    record Or(Expression left, Expression right, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of(left, right);
        }
    }

    record Not(Expression operand, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of(operand);
        }
    }

    /** A chain such as {@code a < b <= c}: one operator fewer than operands. */
    record Compare(List<Expression> operands, List<String> operators, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return operands;
        }
    }

    record Concatenation(List<Expression> parts, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return parts;
        }
    }

    record Conditional(Expression test, Expression then, Optional<Expression> otherwise, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return joined(List.of(test, then), otherwise.stream().toList());
        }
    }

    record Attribute(Expression owner, String name, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of(owner);
        }
    }

    record Item(Expression owner, Expression key, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of(owner, key);
        }
    }

    /** {@code start:stop:step}; a part that is not written is none. */
    record Slice(Expression start, Expression stop, Expression step, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return List.of(start, stop, step);
        }
    }

    record Call(Expression callee, CallArguments arguments, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return joined(List.of(callee), arguments.children());
        }
    }

    /** A filter; one without input filters the block that it heads. */
    record Filter(Optional<Expression> input, String name, CallArguments arguments, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return joined(input.stream().toList(), arguments.children());
        }
    }

    record Test(Expression input, String name, CallArguments arguments, int at) implements Expression {
        @Override
        public List<Expression> children() {
            return joined(List.of(input), arguments.children());
        }
    }

    record Keyword(String name, Expression value) {}

    /** What stands between the parentheses of a call. */
    record CallArguments(
            List<Expression> positional,
            List<Keyword> named,
            Optional<Expression> spreadPositional,
            Optional<Expression> spreadNamed) {
        static final CallArguments NONE = new CallArguments(List.of(), List.of(), Optional.empty(), Optional.empty());

        List<Expression> children() {
            var children = new ArrayList<>(positional);
            named.forEach(keyword -> children.add(keyword.value()));
            spreadPositional.ifPresent(children::add);
            spreadNamed.ifPresent(children::add);
            return children;
        }
    }

    private static List<Expression> joined(List<Expression> first, List<Expression> second) {
        var joined = new ArrayList<>(first);
        joined.addAll(second);
        return joined;
    }
}
