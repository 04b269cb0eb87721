package roselle.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.jinja.run.Action;
import roselle.jinja.run.Action.Completion;
import roselle.jinja.run.Activation;
import roselle.jinja.run.Evaluator;
import roselle.jinja.run.Macro;
import roselle.jinja.syntax.Expression;
import roselle.jinja.syntax.FreeNames;
import roselle.jinja.syntax.Statement;
import roselle.jinja.syntax.Statement.NameTarget;
import roselle.jinja.syntax.Statement.NamespaceTarget;
import roselle.jinja.syntax.Statement.Signature;
import roselle.jinja.syntax.Statement.Target;
import roselle.jinja.syntax.Statement.TupleTarget;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Namespace;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Truth;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;

/** Turns statements into actions. */
final class StatementCompiler {
    private final CodeHeight height = new CodeHeight();
    private final ExpressionCompiler expressions = new ExpressionCompiler(height);
    private final LoopCompiler loops = new LoopCompiler(this, expressions, height);

    Action compile(List<Statement> statements, Scope scope) {
        height.enter();
        var actions =
                statements.stream().map(statement -> compile(statement, scope)).toArray(Action[]::new);
        height.leave();
        return Action.sequence(actions);
    }

    private Action compile(Statement statement, Scope scope) {
        height.enter();
        var action = action(statement, scope);
        height.leave();
        return action;
    }

    private Action action(Statement statement, Scope scope) {
        return switch (statement) {
            case Statement.Output(String text, int at) -> output(text, at);
            case Statement.Print print -> print(expressions.compile(print.value(), scope), print.at());
            case Statement.For loop -> loops.compile(loop, scope);
            case Statement.If condition -> condition(condition, scope.softened());
            case Statement.Assign assign -> assign(assign, scope);
            case Statement.AssignBlock block -> assignBlock(block, scope);
            case Statement.MacroDefinition macro -> macro(macro, scope);
            case Statement.CallBlock block -> callBlock(block, scope);
            case Statement.Generation generation -> generation(generation, scope);
            case Statement.FilterBlock block -> filterBlock(block, scope);
            case Statement.With with -> with(with, scope);
            case Statement.Break(int at) -> ending(Completion.BREAK, scope, at);
            case Statement.Continue(int at) -> ending(Completion.CONTINUE, scope, at);
        };
    }

    private static Action output(String text, int at) {
        return activation -> {
            activation.rendering().step(at);
            activation.rendering().write(text);
            return Completion.NORMAL;
        };
    }

    private static Action print(Evaluator value, int at) {
        return activation -> {
            var rendering = activation.rendering();
            var result = value.evaluate(activation);
            rendering.step(at);
            rendering.write(PythonText.string(rendering, result));
            return Completion.NORMAL;
        };
    }

    private static Action ending(Completion completion, Scope scope, int at) {
        if (!scope.inLoop()) {
            throw new TemplateFault("'break' and 'continue' belong into a loop", at);
        }
        return activation -> {
            activation.rendering().step(at);
            return completion;
        };
    }

    private Action condition(Statement.If condition, Scope scope) {
        var branches = condition.branches();
        var tests = branches.stream()
                .map(branch -> expressions.compile(branch.test(), scope))
                .toArray(Evaluator[]::new);
        var bodies =
                branches.stream().map(branch -> compile(branch.body(), scope)).toArray(Action[]::new);
        var otherwise = compile(condition.otherwise(), scope);
        int at = condition.at();
        return activation -> {
            for (int i = 0; i < tests.length; i++) {
                activation.rendering().step(at);
                if (Truth.of(tests[i].evaluate(activation))) {
                    return bodies[i].execute(activation);
                }
            }
            return otherwise.execute(activation);
        };
    }

    /** What stores a value into a target. */
    interface Store {
        void store(Activation activation, Object value);
    }

    Store store(Target target, Scope scope) {
        return switch (target) {
            case NameTarget single -> {
                var slot = scope.symbols().slot(single.name());
                int distance = scope.distance(slot);
                yield (activation, value) -> activation.outer(distance).set(slot.index(), value);
            }
            case TupleTarget(var targets, int at) ->
                unpack(targets.stream().map(each -> store(each, scope)).toArray(Store[]::new), at);
            case NamespaceTarget(String namespace, String attribute, int at) -> {
                var owner = ExpressionCompiler.name(new Expression.Name(namespace, at), scope);
                yield (activation, value) -> assignAttribute(activation, owner.evaluate(activation), attribute, value);
            }
        };
    }

    private static Store unpack(Store[] targets, int at) {
        return (activation, value) -> {
            activation.rendering().step(at);
            var members = Iteration.over(activation.rendering(), value);
            var values = new Object[targets.length];
            for (int i = 0; i < targets.length; i++) {
                if (!members.hasNext()) {
                    throw new TemplateFault(
                            "not enough values to unpack (expected " + targets.length + ", got " + i + ")");
                }
                values[i] = members.next();
            }
            if (members.hasNext()) {
                throw new TemplateFault("too many values to unpack (expected " + targets.length + ")");
            }
            for (int i = 0; i < targets.length; i++) {
                targets[i].store(activation, values[i]);
            }
        };
    }

    private static void assignAttribute(Activation activation, Object owner, String attribute, Object value) {
        if (!(owner instanceof Namespace namespace)) {
            throw new TemplateFault("cannot assign the attribute '" + attribute + "' of a " + Types.name(owner)
                    + ": only a namespace has attributes to assign");
        }
        namespace.assign(activation.rendering(), attribute, value);
    }

    private Action assign(Statement.Assign assign, Scope scope) {
        var value = expressions.compile(assign.value(), scope);
        var store = store(assign.target(), scope);
        int at = assign.at();
        return activation -> {
            var result = value.evaluate(activation);
            activation.rendering().step(at);
            store.store(activation, result);
            return Completion.NORMAL;
        };
    }

    private Action assignBlock(Statement.AssignBlock block, Scope scope) {
        var inner = scope.inner();
        SymbolAnalysis.statements(inner.symbols(), block.body());
        block.filter().ifPresent(filter -> SymbolAnalysis.expression(inner.symbols(), filter));
        var body = captured(compile(block.body(), inner), inner);
        Evaluator value = block.filter()
                .map(filter -> expressions.filter(filter, inner, Optional.of(body)))
                .orElse(body);
        return captured(value, store(block.target(), scope), inner, block.at());
    }

    private Action filterBlock(Statement.FilterBlock block, Scope scope) {
        var inner = scope.inner();
        SymbolAnalysis.statements(inner.symbols(), block.body());
        SymbolAnalysis.expression(inner.symbols(), block.filter());
        var body = captured(compile(block.body(), inner), inner);
        var value = expressions.filter(block.filter(), inner, Optional.of(body));
        return captured(value, StatementCompiler::writeText, inner, block.at());
    }

    private static void writeText(Activation activation, Object value) {
        if (!Types.isText(value)) {
            throw new TemplateFault("the filter of a block must give a string, not " + Types.name(value));
        }
        activation.rendering().write(PythonText.string(activation.rendering(), value));
    }

    /** Ends a block whose loop was left from inside its text; carries no stack trace. */
    private static final class Interruption extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final Completion completion;

        Interruption(Completion completion) {
            super(null, null, false, false);
            this.completion = completion;
        }
    }

    /** What a block prints, as a value. */
    private static Evaluator captured(Action body, Scope scope) {
        var entry = scope.entry();
        return activation -> {
            var rendering = activation.rendering();
            int mark = rendering.output().length();
            entry.execute(activation);
            var completion = body.execute(activation);
            String text = rendering.cut(mark);
            if (completion != Completion.NORMAL) {
                throw new Interruption(completion);
            }
            return text;
        };
    }

    private static Action captured(Evaluator value, Store store, Scope scope, int at) {
        var exit = scope.exit();
        return activation -> {
            try {
                var result = value.evaluate(activation);
                activation.rendering().step(at);
                store.store(activation, result);
            } catch (Interruption interruption) {
                return interruption.completion;
            }
            return exit.execute(activation);
        };
    }

    private Action with(Statement.With with, Scope scope) {
        var inner = scope.inner();
        with.targets().forEach(target -> SymbolAnalysis.parameters(inner.symbols(), target));
        SymbolAnalysis.statements(inner.symbols(), with.body());
        var values = with.values().stream()
                .map(value -> expressions.compile(value, scope))
                .toArray(Evaluator[]::new);
        var stores = with.targets().stream().map(target -> store(target, inner)).toArray(Store[]::new);
        var body = compile(with.body(), inner);
        var entry = inner.entry();
        var exit = inner.exit();
        int at = with.at();
        return activation -> {
            activation.rendering().step(at);
            entry.execute(activation);
            for (int i = 0; i < values.length; i++) {
                stores[i].store(activation, values[i].evaluate(activation));
            }
            var completion = body.execute(activation);
            exit.execute(activation);
            return completion;
        };
    }

    private Action macro(Statement.MacroDefinition macro, Scope scope) {
        var definition = definition(macro.name(), macro.signature(), macro.body(), scope, macro.at());
        var store = store(new NameTarget(macro.name(), macro.at()), scope);
        return activation -> {
            store.store(activation, new Macro(definition, activation));
            return Completion.NORMAL;
        };
    }

    private Action callBlock(Statement.CallBlock block, Scope scope) {
        var definition = definition("", block.signature(), block.body(), scope, block.at());
        var call = expressions.call(block.call(), scope, Optional.of(activation -> new Macro(definition, activation)));
        return print(call, block.at());
    }

    private Action generation(Statement.Generation generation, Scope scope) {
        var definition = definition("", Signature.EMPTY, generation.body(), scope, generation.at());
        return print(
                activation -> new Macro(definition, activation).call(activation.rendering(), Arguments.NONE),
                generation.at());
    }

    private Macro.Definition definition(String name, Signature signature, List<Statement> body, Scope outer, int at) {
        int outside = height.begin();
        var scope = outer.function();
        var symbols = scope.symbols();
        var parameters =
                signature.parameters().stream().map(Expression.Name::name).toList();
        var specials = FreeNames.in(body, Set.of("caller", "kwargs", "varargs"));
        int explicit = parameters.indexOf("caller");
        if (explicit >= 0
                && specials.contains("caller")
                && signature.defaultOf(explicit).isEmpty()) {
            throw new TemplateFault("the parameter 'caller' must be left out or have a default", at);
        }
        var names = new String[] {"caller", "kwargs", "varargs"};
        var slots = new ArrayList<Integer>();
        for (int i = 0; i < parameters.size(); i++) {
            slots.add(symbols.declareParameter(parameters.get(i)).index());
        }
        for (int i = 0; i < names.length; i++) {
            boolean isTaken = specials.contains(names[i]) && !parameters.contains(names[i]);
            slots.add(isTaken ? symbols.declareParameter(names[i]).index() : -1);
        }
        signature.defaults().forEach(each -> SymbolAnalysis.expression(symbols, each));
        SymbolAnalysis.statements(symbols, body);
        var defaults = new ArrayList<Evaluator>();
        for (int i = 0; i < parameters.size(); i++) {
            var missing = new Undefined("parameter '" + parameters.get(i) + "' was not provided");
            defaults.add(signature
                    .defaultOf(i)
                    .map(each -> expressions.compile(each, scope))
                    .orElse(_ -> missing));
        }
        var action = compile(body, scope);
        int size = symbols.function().size();
        return new Macro.Definition(
                name, parameters, defaults, slots, size, height.end(outside), scope.entry(), action);
    }
}
