package roselle.jinja;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.jinja.filter.Filters;
import roselle.jinja.filter.Tests;
import roselle.jinja.operation.Arithmetic;
import roselle.jinja.operation.Attributes;
import roselle.jinja.operation.Subscripts;
import roselle.jinja.run.Activation;
import roselle.jinja.run.Evaluator;
import roselle.jinja.syntax.Expression;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Callable;
import roselle.jinja.value.Comparison;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Truth;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;

/** Turns expressions into evaluators, with names resolved to slots and filters looked up. */
final class ExpressionCompiler {
    private final CodeHeight height;

    ExpressionCompiler(CodeHeight height) {
        this.height = height;
    }

    Evaluator compile(Expression expression, Scope scope) {
        height.enter();
        var evaluator = evaluator(expression, scope);
        height.leave();
        return evaluator;
    }

    private Evaluator evaluator(Expression expression, Scope scope) {
        return switch (expression) {
            case Expression.Literal literal -> _ -> literal.value();
            case Expression.Name name -> name(name, scope);
            case Expression.TupleDisplay(var items, int at) -> tuple(all(items, scope), at);
            case Expression.ListDisplay(var items, int at) -> list(all(items, scope), at);
            case Expression.DictionaryDisplay display -> dictionary(display, scope);
            case Expression.Signed signed -> signed(signed, scope);
            case Expression.Binary binary -> binary(binary, scope);
            case Expression.And and -> and(compile(and.left(), scope), compile(and.right(), scope));
            case Expression.Or or -> or(compile(or.left(), scope), compile(or.right(), scope));
            case Expression.Not not -> {
                var operand = compile(not.operand(), scope);
                yield activation -> !Truth.of(operand.evaluate(activation));
            }
            case Expression.Compare compare -> compare(compare, scope);
            case Expression.Concatenation(var parts, int at) -> concatenation(all(parts, scope), at);
            case Expression.Conditional conditional -> conditional(conditional, scope.softened());
            case Expression.Attribute attribute -> attribute(attribute, scope);
            case Expression.Item item -> item(item, scope);
            case Expression.Slice slice -> throw new TemplateFault("a slice is not a value", slice.at());
            case Expression.Call call -> call(call, scope, Optional.empty());
            case Expression.Filter filter -> filter(filter, scope, Optional.empty());
            case Expression.Test test -> test(test, scope);
        };
    }

    private Evaluator[] all(List<Expression> expressions, Scope scope) {
        return expressions.stream().map(each -> compile(each, scope)).toArray(Evaluator[]::new);
    }

    static Evaluator name(Expression.Name name, Scope scope) {
        var slot = scope.symbols().slot(name.name());
        int index = slot.index();
        int distance = scope.distance(slot);
        var undefined = Undefined.variable(name.name());
        if (distance == 0) {
            return activation -> {
                var value = activation.get(index);
                return value == null ? undefined : value;
            };
        }
        return activation -> {
            var value = activation.outer(distance).get(index);
            return value == null ? undefined : value;
        };
    }

    private static Evaluator tuple(Evaluator[] items, int at) {
        return activation -> {
            activation.rendering().step(at);
            return new Tuple(evaluateAll(items, activation));
        };
    }

    private static Evaluator list(Evaluator[] items, int at) {
        return activation -> {
            activation.rendering().step(at);
            return evaluateAll(items, activation);
        };
    }

    private static List<Object> evaluateAll(Evaluator[] items, Activation activation) {
        activation.rendering().charge(8L * items.length);
        var values = new ArrayList<>(items.length);
        for (var item : items) {
            values.add(item.evaluate(activation));
        }
        return values;
    }

    private Evaluator dictionary(Expression.DictionaryDisplay display, Scope scope) {
        var keys = all(display.keys(), scope);
        var values = all(display.values(), scope);
        int at = display.at();
        return activation -> {
            var rendering = activation.rendering();
            rendering.step(at);
            rendering.charge(16L * keys.length);
            var dictionary = new Dictionary(keys.length);
            for (int i = 0; i < keys.length; i++) {
                dictionary.put(rendering, keys[i].evaluate(activation), values[i].evaluate(activation));
            }
            return dictionary;
        };
    }

    private Evaluator signed(Expression.Signed signed, Scope scope) {
        var operand = compile(signed.operand(), scope);
        boolean minus = signed.sign() == Expression.Sign.MINUS;
        int at = signed.at();
        return activation -> {
            var value = operand.evaluate(activation);
            activation.rendering().step(at);
            return minus ? Arithmetic.negate(value) : Arithmetic.positive(value);
        };
    }

    private Evaluator binary(Expression.Binary binary, Scope scope) {
        var left = compile(binary.left(), scope);
        var right = compile(binary.right(), scope);
        var operator = binary.operator();
        int at = binary.at();
        if (operator == Arithmetic.Operator.ADD) {
            return activation -> {
                var first = left.evaluate(activation);
                var second = right.evaluate(activation);
                activation.rendering().step(at);
                return Arithmetic.add(activation.rendering(), first, second);
            };
        }
        return activation -> {
            var first = left.evaluate(activation);
            var second = right.evaluate(activation);
            activation.rendering().step(at);
            return Arithmetic.apply(activation.rendering(), operator, first, second);
        };
    }

    private static Evaluator and(Evaluator left, Evaluator right) {
        return activation -> {
            var first = left.evaluate(activation);
            return Truth.of(first) ? right.evaluate(activation) : first;
        };
    }

    private static Evaluator or(Evaluator left, Evaluator right) {
        return activation -> {
            var first = left.evaluate(activation);
            return Truth.of(first) ? first : right.evaluate(activation);
        };
    }

    private Evaluator compare(Expression.Compare compare, Scope scope) {
        var operands = all(compare.operands(), scope);
        var operators = compare.operators().toArray(new String[0]);
        int at = compare.at();
        return activation -> {
            var left = operands[0].evaluate(activation);
            for (int i = 0; i < operators.length; i++) {
                var right = operands[i + 1].evaluate(activation);
                activation.rendering().step(at);
                if (!holds(activation.rendering(), operators[i], left, right)) {
                    return false;
                }
                left = right;
            }
            return true;
        };
    }

    private static boolean holds(Rendering rendering, String operator, Object left, Object right) {
        return switch (operator) {
            case "==" -> Comparison.equal(rendering, left, right);
            case "!=" -> !Comparison.equal(rendering, left, right);
            case "in" -> Iteration.contains(rendering, right, left);
            case "not in" -> !Iteration.contains(rendering, right, left);
            default -> Comparison.compare(rendering, operator, left, right);
        };
    }

    private static Evaluator concatenation(Evaluator[] parts, int at) {
        return activation -> {
            var rendering = activation.rendering();
            var text = new StringBuilder();
            for (var part : parts) {
                var value = part.evaluate(activation);
                rendering.step(at);
                String string = PythonText.string(rendering, value);
                rendering.chargeText((long) text.length() + string.length());
                text.append(string);
            }
            return text.toString();
        };
    }

    private Evaluator conditional(Expression.Conditional conditional, Scope scope) {
        var test = compile(conditional.test(), scope);
        var then = compile(conditional.then(), scope);
        var missing = new Undefined("the inline if-expression is false and has no else");
        Evaluator otherwise =
                conditional.otherwise().map(each -> compile(each, scope)).orElse(_ -> missing);
        return activation ->
                Truth.of(test.evaluate(activation)) ? then.evaluate(activation) : otherwise.evaluate(activation);
    }

    private Evaluator attribute(Expression.Attribute attribute, Scope scope) {
        var owner = compile(attribute.owner(), scope);
        String name = attribute.name();
        int at = attribute.at();
        return activation -> {
            var value = owner.evaluate(activation);
            activation.rendering().step(at);
            return Attributes.of(activation.rendering(), value, name);
        };
    }

    private Evaluator item(Expression.Item item, Scope scope) {
        if (item.key() instanceof Expression.Slice slice) {
            return slice(item, slice, scope);
        }
        var owner = compile(item.owner(), scope);
        var key = compile(item.key(), scope);
        int at = item.at();
        return activation -> {
            var value = owner.evaluate(activation);
            var member = key.evaluate(activation);
            activation.rendering().step(at);
            return Subscripts.item(activation.rendering(), value, member);
        };
    }

    private Evaluator slice(Expression.Item item, Expression.Slice slice, Scope scope) {
        var owner = compile(item.owner(), scope);
        var start = compile(slice.start(), scope);
        var stop = compile(slice.stop(), scope);
        var step = compile(slice.step(), scope);
        int at = item.at();
        return activation -> {
            var value = owner.evaluate(activation);
            var first = start.evaluate(activation);
            var last = stop.evaluate(activation);
            var stride = step.evaluate(activation);
            activation.rendering().step(at);
            return Subscripts.slice(activation.rendering(), value, first, last, stride);
        };
    }

    /** A call; a {@code call} block adds its caller. */
    Evaluator call(Expression.Call call, Scope scope, Optional<Evaluator> caller) {
        var callee = compile(call.callee(), scope);
        var arguments = arguments(call.arguments(), scope, caller, call.at());
        int at = call.at();
        return activation -> {
            var value = callee.evaluate(activation);
            var bound = arguments.evaluate(activation);
            activation.rendering().step(at);
            return switch (value) {
                case Callable callable -> callable.call(activation.rendering(), bound);
                case Undefined undefined -> throw undefined.fault();
                default -> throw new TemplateFault("'" + Types.name(value) + "' object is not callable");
            };
        };
    }

    /** A filter; one that heads a block has the block's text for input. */
    Evaluator filter(Expression.Filter filter, Scope scope, Optional<Evaluator> text) {
        Evaluator input = filter.input()
                .map(each ->
                        each instanceof Expression.Filter inner ? filter(inner, scope, text) : compile(each, scope))
                .or(() -> text)
                .orElseThrow(() -> new TemplateFault("the filter has no input", filter.at()));
        return builtin("filter", Filters.ALL, filter.name(), input, filter.arguments(), scope, filter.at());
    }

    private Evaluator test(Expression.Test test, Scope scope) {
        var input = compile(test.input(), scope);
        return builtin("test", Tests.ALL, test.name(), input, test.arguments(), scope, test.at());
    }

    private Evaluator builtin(
            String kind,
            Map<String, Builtin> builtins,
            String name,
            Evaluator input,
            Expression.CallArguments arguments,
            Scope scope,
            int at) {
        var builtin = builtins.get(name);
        var bound = arguments(arguments, scope, Optional.empty(), at);
        if (builtin == null && !scope.soft()) {
            throw new TemplateFault("no " + kind + " named '" + name + "'", at);
        }
        return activation -> {
            var value = input.evaluate(activation);
            var values = bound.evaluate(activation);
            activation.rendering().step(at);
            if (builtin == null) {
                throw new TemplateFault("no " + kind + " named '" + name + "'");
            }
            return builtin.apply(activation.rendering(), value, values);
        };
    }

    /** What evaluates the arguments of a call. */
    private interface ArgumentsEvaluator {
        Arguments evaluate(Activation activation);
    }

    private ArgumentsEvaluator arguments(
            Expression.CallArguments arguments, Scope scope, Optional<Evaluator> caller, int at) {
        var positional = all(arguments.positional(), scope);
        var names = new ArrayList<>(
                arguments.named().stream().map(Expression.Keyword::name).toList());
        var values = new ArrayList<>(Arrays.asList(
                all(arguments.named().stream().map(Expression.Keyword::value).toList(), scope)));
        caller.ifPresent(each -> {
            names.add("caller");
            values.add(each);
        });
        if (new HashSet<>(names).size() < names.size()) {
            throw new TemplateFault("an argument is given twice in one call", at);
        }
        var spreadPositional = arguments.spreadPositional().map(each -> compile(each, scope));
        var spreadNamed = arguments.spreadNamed().map(each -> compile(each, scope));
        if (positional.length == 0 && names.isEmpty() && spreadPositional.isEmpty() && spreadNamed.isEmpty()) {
            return _ -> Arguments.NONE;
        }
        return activation -> {
            var list = evaluateAll(positional, activation);
            spreadPositional.ifPresent(
                    each -> list.addAll(Iteration.list(activation.rendering(), each.evaluate(activation))));
            var named = new LinkedHashMap<String, Object>();
            for (int i = 0; i < names.size(); i++) {
                named.put(names.get(i), values.get(i).evaluate(activation));
            }
            spreadNamed.ifPresent(each -> spread(each.evaluate(activation), named));
            return new Arguments(list, named);
        };
    }

    private static void spread(Object value, Map<String, Object> named) {
        if (!(value instanceof Dictionary dictionary)) {
            throw new TemplateFault("argument after ** must be a mapping, not " + Types.name(value));
        }
        for (var entry : dictionary.entries()) {
            if (!(entry.key() instanceof String name)) {
                throw new TemplateFault("keywords must be strings");
            }
            if (named.put(name, entry.value()) != null) {
                throw new TemplateFault("the argument '" + name + "' is given twice");
            }
        }
    }
}
