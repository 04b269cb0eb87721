package roselle.jinja;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.jinja.run.Action;
import roselle.jinja.run.Action.Completion;
import roselle.jinja.run.Activation;
import roselle.jinja.run.Evaluator;
import roselle.jinja.run.Loop;
import roselle.jinja.syntax.FreeNames;
import roselle.jinja.syntax.Statement;
import roselle.jinja.value.Generator;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Truth;

/** Turns loops into actions. */
final class LoopCompiler {
    private final StatementCompiler statements;
    private final ExpressionCompiler expressions;
    private final CodeHeight height;

    LoopCompiler(StatementCompiler statements, ExpressionCompiler expressions, CodeHeight height) {
        this.statements = statements;
        this.expressions = expressions;
        this.height = height;
    }

    /**
     * A loop without its members.
     *
     * @param loopSlot of the variable {@code loop}, or -1 where it is not used
     */
    private record Rounds(
            StatementCompiler.Store target, int loopSlot, Action entry, Action body, Action exit, Action otherwise) {
        Completion run(Activation activation, Object members, Loop.@Nullable Recursion recursion, int depth, int at) {
            var loop = new Loop(activation.rendering(), members, recursion, depth);
            boolean isEmpty = true;
            for (var member = loop.advance(); member != null; member = loop.advance()) {
                target.store(activation, member);
                if (loopSlot >= 0) {
                    activation.set(loopSlot, loop);
                }
                entry.execute(activation);
                var completion = body.execute(activation);
                if (completion == Completion.BREAK) {
                    break;
                }
                // As Jinja has it: only a round that runs to its end keeps the else part from running.
                isEmpty &= completion != Completion.NORMAL;
                activation.rendering().step(at);
            }
            exit.execute(activation);
            return isEmpty ? otherwise.execute(activation) : Completion.NORMAL;
        }
    }

    Action compile(Statement.For loop, Scope scope) {
        var iterable = expressions.compile(loop.iterable(), scope);
        return loop.recursive() ? recursive(loop, scope, iterable) : plain(loop, scope, iterable);
    }

    private Action plain(Statement.For loop, Scope scope, Evaluator iterable) {
        var filter = filter(loop, scope);
        var rounds = rounds(loop, scope.inner(), scope.inner());
        int at = loop.at();
        return activation -> {
            var members = iterable.evaluate(activation);
            activation.rendering().step(at);
            return rounds.run(activation, filter.filtered(activation, members), null, 0, at);
        };
    }

    private Action recursive(Statement.For loop, Scope scope, Evaluator iterable) {
        int outside = height.begin();
        var function = scope.function();
        var filter = filter(loop, function);
        var rounds = rounds(
                loop,
                function,
                new Scope(new Symbols(scope.symbols(), function.symbols().function()), false, false));
        var recursion =
                new RecursiveLoop(rounds, filter, function.symbols().function(), height.end(outside), loop.at());
        return activation -> {
            var members = iterable.evaluate(activation);
            activation.rendering().step(loop.at());
            String text = recursion.run(activation, members, 0);
            activation.rendering().write(text);
            return Completion.NORMAL;
        };
    }

    /** A loop that runs in activations of its own. */
    private record RecursiveLoop(
            Rounds rounds, MemberFilter filter, Symbols.FunctionScope function, int height, int at) {
        String run(Activation outer, Object members, int depth) {
            var rendering = outer.rendering();
            rendering.enter(height);
            var activation = new Activation(rendering, outer, function.size());
            int mark = rendering.output().length();
            var filtered = filter.filtered(activation, members);
            rounds.run(activation, filtered, (_, inner, level) -> run(outer, inner, level), depth, at);
            rendering.leave(height);
            return rendering.cut(mark);
        }
    }

    private Rounds rounds(Statement.For loop, Scope scope, Scope elseScope) {
        var symbols = scope.symbols();
        boolean usesLoop =
                loop.recursive() || !FreeNames.in(loop.body(), Set.of("loop")).isEmpty();
        int loopSlot = usesLoop ? symbols.declareParameter("loop").index() : -1;
        SymbolAnalysis.parameters(symbols, loop.target());
        SymbolAnalysis.statements(symbols, loop.body());
        SymbolAnalysis.statements(elseScope.symbols(), loop.otherwise());
        var target = statements.store(loop.target(), scope);
        var body = statements.compile(loop.body(), scope.loop());
        var otherwise = statements.compile(loop.otherwise(), elseScope);
        var orElse = Action.sequence(elseScope.entry(), otherwise);
        return new Rounds(target, loopSlot, scope.entry(), body, scope.exit(), orElse);
    }

    /** What a loop's {@code if} lets through. */
    private interface MemberFilter {
        Object filtered(Activation activation, Object members);
    }

    private MemberFilter filter(Statement.For loop, Scope scope) {
        if (loop.test().isEmpty()) {
            return (_, members) -> members;
        }
        var inner = scope.function();
        SymbolAnalysis.parameters(inner.symbols(), loop.target());
        SymbolAnalysis.expression(inner.symbols(), loop.test().get());
        var target = statements.store(loop.target(), inner);
        var test = expressions.compile(loop.test().get(), inner);
        var entry = inner.entry();
        var function = inner.symbols().function();
        return (activation, members) -> {
            var own = new Activation(activation.rendering(), activation, function.size());
            entry.execute(own);
            var all = Iteration.over(activation.rendering(), members);
            return new Generator("loop", new Selected(all, own, target, test));
        };
    }

    /** The members for which a test holds, tested when they are asked for. */
    private static final class Selected implements Iterator<Object> {
        private final Iterator<Object> all;
        private final Activation activation;
        private final StatementCompiler.Store target;
        private final Evaluator test;
        private @Nullable Object next;

        Selected(Iterator<Object> all, Activation activation, StatementCompiler.Store target, Evaluator test) {
            this.all = all;
            this.activation = activation;
            this.target = target;
            this.test = test;
        }

        @Override
        public boolean hasNext() {
            while (next == null && all.hasNext()) {
                var member = all.next();
                target.store(activation, member);
                next = Truth.of(test.evaluate(activation)) ? member : null;
            }
            return next != null;
        }

        @Override
        public Object next() {
            if (!hasNext() || next == null) {
                throw new NoSuchElementException();
            }
            var member = next;
            next = null;
            return member;
        }
    }
}
