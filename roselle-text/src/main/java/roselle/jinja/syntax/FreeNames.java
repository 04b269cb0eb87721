package roselle.jinja.syntax;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import roselle.jinja.syntax.Statement.NameTarget;
import roselle.jinja.syntax.Statement.NamespaceTarget;
import roselle.jinja.syntax.Statement.Signature;
import roselle.jinja.syntax.Statement.Target;
import roselle.jinja.syntax.Statement.TupleTarget;

/** Finds which of some names statements read without having assigned them, scopes inside included. */
public final class FreeNames {
    private final Set<String> wanted;
    private final Set<String> found = new HashSet<>();

    private FreeNames(Set<String> wanted) {
        this.wanted = new HashSet<>(wanted);
    }

    public static Set<String> in(List<Statement> statements, Set<String> wanted) {
        var search = new FreeNames(wanted);
        search.visit(statements);
        return search.found;
    }

    private void visit(List<Statement> statements) {
        statements.forEach(this::visit);
    }

    private void visit(Expression expression) {
        if (expression instanceof Expression.Name name && wanted.contains(name.name())) {
            found.add(name.name());
        }
        expression.children().forEach(this::visit);
    }

    private void visit(Statement statement) {
        switch (statement) {
            case Statement.Output _, Statement.Break _, Statement.Continue _ -> {}
            case Statement.Print print -> visit(print.value());
            case Statement.For loop -> {
                assign(loop.target());
                visit(loop.iterable());
                visit(loop.body());
                visit(loop.otherwise());
                loop.test().ifPresent(this::visit);
            }
            case Statement.If condition -> {
                for (var branch : condition.branches()) {
                    visit(branch.test());
                    visit(branch.body());
                }
                visit(condition.otherwise());
            }
            case Statement.Assign assign -> {
                assign(assign.target());
                visit(assign.value());
            }
            case Statement.AssignBlock block -> {
                assign(block.target());
                block.filter().ifPresent(this::visit);
                visit(block.body());
            }
            case Statement.MacroDefinition macro -> {
                visit(macro.signature());
                visit(macro.body());
            }
            case Statement.CallBlock block -> {
                visit(block.call());
                visit(block.signature());
                visit(block.body());
            }
            case Statement.Generation generation -> visit(generation.body());
            case Statement.FilterBlock block -> {
                visit(block.body());
                visit(block.filter());
            }
            case Statement.With with -> {
                with.targets().forEach(this::assign);
                with.values().forEach(this::visit);
                visit(with.body());
            }
        }
    }

    private void visit(Signature signature) {
        signature.parameters().forEach(parameter -> wanted.remove(parameter.name()));
        signature.defaults().forEach(this::visit);
    }

    private void assign(Target target) {
        switch (target) {
            case NameTarget single -> wanted.remove(single.name());
            case TupleTarget several -> several.targets().forEach(this::assign);
            case NamespaceTarget _ -> {}
        }
    }
}
