package roselle.gotemplate.syntax;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import roselle.gotemplate.syntax.Pipeline.Command;

/** The names of fields and variables that a template mentions, in small letters: by them Ollama knows what a template can. */
public final class FieldNames {
    private final Set<String> names = new HashSet<>();
    private final Deque<Node> left = new ArrayDeque<>();

    private FieldNames() {}

    public static Set<String> of(Templates templates) {
        var found = new FieldNames();
        found.left.addAll(templates.root());
        templates.defined().values().forEach(found.left::addAll);
        while (!found.left.isEmpty()) {
            found.visit(found.left.remove());
        }
        return found.names;
    }

    private void visit(Node node) {
        switch (node) {
            case Node.Action action -> visit(action.pipeline());
            case Node.Call call -> call.pipeline().ifPresent(this::visit);
            case Node.Branch branch -> {
                visit(branch.pipeline());
                left.addAll(branch.body());
                left.addAll(branch.otherwise());
            }
            case Node.Text _, Node.Jump _ -> {}
        }
    }

    private void visit(Pipeline pipeline) {
        for (Command command : pipeline.commands()) {
            command.terms().forEach(this::visit);
        }
    }

    private void visit(Term term) {
        switch (term) {
            case Term.Field field -> add(field.names());
            case Term.Variable variable -> add(variable.names());
            case Term.Chain chain -> visit(chain.base());
            case Term.Group group -> visit(group.pipeline());
            case Term.Dot _, Term.Literal _, Term.Function _ -> {}
        }
    }

    private void add(List<String> fields) {
        fields.forEach(field -> names.add(field.toLowerCase(Locale.ROOT)));
    }
}
