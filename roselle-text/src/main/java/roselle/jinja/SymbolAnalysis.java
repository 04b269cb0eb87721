package roselle.jinja;

import java.util.List;
import roselle.jinja.syntax.Expression;
import roselle.jinja.syntax.Statement;
import roselle.jinja.syntax.Statement.NameTarget;
import roselle.jinja.syntax.Statement.NamespaceTarget;
import roselle.jinja.syntax.Statement.Target;
import roselle.jinja.syntax.Statement.TupleTarget;

/** Finds the names that a scope reads and assigns, leaving out the scopes inside it. */
final class SymbolAnalysis {
    private Symbols symbols;

    private SymbolAnalysis(Symbols symbols) {
        this.symbols = symbols;
    }

    static void statements(Symbols symbols, List<Statement> statements) {
        new SymbolAnalysis(symbols).visit(statements);
    }

    static void expression(Symbols symbols, Expression expression) {
        new SymbolAnalysis(symbols).visit(expression);
    }

    /** Declares what a loop or a {@code with} assigns on entry. */
    static void parameters(Symbols symbols, Target target) {
        switch (target) {
            case NameTarget single -> symbols.declareParameter(single.name());
            case TupleTarget several -> several.targets().forEach(each -> parameters(symbols, each));
            case NamespaceTarget member -> symbols.load(member.namespace());
        }
    }

    private void visit(List<Statement> statements) {
        statements.forEach(this::visit);
    }

    private void visit(Expression expression) {
        if (expression instanceof Expression.Name name) {
            symbols.load(name.name());
        }
        expression.children().forEach(this::visit);
    }

    private void visit(Statement statement) {
        switch (statement) {
            case Statement.Output _, Statement.Break _, Statement.Continue _, Statement.Generation _ -> {}
            case Statement.Print print -> visit(print.value());
            case Statement.For loop -> visit(loop.iterable());
            case Statement.If condition -> visitIf(condition);
            case Statement.Assign assign -> {
                visit(assign.value());
                store(assign.target());
            }
            case Statement.AssignBlock block -> store(block.target());
            case Statement.MacroDefinition macro -> symbols.store(macro.name());
            case Statement.CallBlock block -> visit(block.call());
            case Statement.FilterBlock block -> visit(block.filter());
            case Statement.With with -> with.values().forEach(this::visit);
        }
    }

    /** An {@code elif} is a branch that the ones after it do not see, as Jinja has it. */
    private void visitIf(Statement.If condition) {
        var outer = symbols;
        var first = condition.branches().getFirst();
        visit(first.test());
        var then = outer.branch();
        symbols = then;
        visit(first.body());
        var others = outer.branch();
        for (var branch : condition.branches().subList(1, condition.branches().size())) {
            symbols = others;
            visit(branch.test());
            var body = others.branch();
            symbols = body;
            visit(branch.body());
            others.merge(List.of(body, others.branch(), others.branch()));
        }
        var otherwise = outer.branch();
        symbols = otherwise;
        visit(condition.otherwise());
        symbols = outer;
        outer.merge(List.of(then, others, otherwise));
    }

    private void store(Target target) {
        switch (target) {
            case NameTarget single -> symbols.store(single.name());
            case TupleTarget several -> several.targets().forEach(this::store);
            case NamespaceTarget member -> symbols.load(member.namespace());
        }
    }
}
