package roselle.gotemplate.run;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.gotemplate.syntax.Node;
import roselle.gotemplate.syntax.Pipeline;
import roselle.gotemplate.syntax.Templates;
import roselle.gotemplate.syntax.Term;
import roselle.gotemplate.value.Dictionary;
import roselle.gotemplate.value.Nil;
import roselle.gotemplate.value.Printing;
import roselle.gotemplate.value.Slice;
import roselle.gotemplate.value.Struct;
import roselle.gotemplate.value.Values;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** One rendering under way. One thread's. */
public final class Execution {
    private final Map<String, List<Node>> defined;
    private final LocalDateTime now;
    private final Budget budget;
    private Scope scope = new Scope(Nil.NIL);

    /** @param now what functions tell the date of */
    public Execution(Templates templates, LocalDateTime now, Limits limits) {
        defined = templates.defined();
        this.now = now;
        budget = new Budget(limits);
    }

    /** Runs nodes about some data; what they write is added. */
    public void run(List<Node> nodes, Object data) {
        scope = new Scope(data);
        walk(nodes, data);
    }

    /** What has been written. */
    public String output() {
        return budget.output();
    }

    /** The offset in the source of what ran last. */
    public int at() {
        return budget.at();
    }

    private Flow walk(List<Node> nodes, Object dot) {
        for (Node node : nodes) {
            budget.step(node.at());
            Flow flow = walk(node, dot);
            if (flow != Flow.NEXT) {
                return flow;
            }
        }
        return Flow.NEXT;
    }

    private Flow walk(Node node, Object dot) {
        switch (node) {
            case Node.Text text -> budget.write(text.text());
            case Node.Action action -> {
                Object value = evaluate(action.pipeline(), dot);
                if (action.pipeline().variables().isEmpty()) {
                    budget.write(Printing.alone(value));
                }
            }
            case Node.Call call -> call(call, dot);
            case Node.Jump jump -> {
                return jump.goesOn() ? Flow.CONTINUE : Flow.BREAK;
            }
            case Node.Branch branch -> {
                int mark = scope.mark();
                Flow flow = branch(branch, dot);
                scope.forget(mark);
                return flow;
            }
        }
        return Flow.NEXT;
    }

    private Flow branch(Node.Branch branch, Object dot) {
        Object value = evaluate(branch.pipeline(), dot);
        if (branch.kind() == Node.Kind.RANGE) {
            return range(branch, value, dot);
        }
        if (!Values.isTrue(value)) {
            return walk(branch.otherwise(), dot);
        }
        return walk(branch.body(), branch.kind() == Node.Kind.WITH ? value : dot);
    }

    private Flow range(Node.Branch branch, Object value, Object dot) {
        boolean hasRun = switch (value) {
            case Long count -> count(branch, count);
            case Slice slice -> items(branch, slice.items());
            case Dictionary dictionary -> entries(branch, dictionary);
            case Nil _ -> false;
            default -> throw new TemplateFault("range cannot iterate over a " + Values.type(value));
        };
        boolean goesOn =
                hasRun || walk(branch.otherwise(), dot) != Flow.CONTINUE; // a break there ends no loop around this one
        return goesOn ? Flow.NEXT : Flow.CONTINUE;
    }

    private boolean count(Node.Branch branch, long count) {
        if (branch.pipeline().variables().size() > 1) {
            throw new TemplateFault("range over a number has one variable");
        }
        boolean goesOn = true;
        for (long round = 0; round < count && goesOn; round++) {
            goesOn = round(branch, Nil.NIL, round);
        }
        return count > 0;
    }

    private boolean items(Node.Branch branch, List<Object> items) {
        boolean goesOn = true;
        for (int index = 0; index < items.size() && goesOn; index++) {
            goesOn = round(branch, (long) index, items.get(index));
        }
        return !items.isEmpty();
    }

    private boolean entries(Node.Branch branch, Dictionary dictionary) {
        for (var entry : dictionary.entries().entrySet()) {
            if (!round(branch, entry.getKey(), entry.getValue())) {
                break;
            }
        }
        return !dictionary.entries().isEmpty();
    }

    /** One round of a loop; returns whether there may be another. */
    private boolean round(Node.Branch branch, Object index, Object element) {
        budget.step(branch.at());
        int mark = scope.mark();
        List<String> variables = branch.pipeline().variables();
        if (!variables.isEmpty()) {
            set(branch.pipeline(), variables.getLast(), element);
        }
        if (variables.size() > 1) {
            set(branch.pipeline(), variables.getFirst(), index);
        }
        Flow flow = walk(branch.body(), element);
        scope.forget(mark);
        return flow != Flow.BREAK;
    }

    private void set(Pipeline pipeline, String name, Object value) {
        if (pipeline.assigns()) {
            scope.assign(name, value);
        } else {
            scope.push(name, value);
        }
    }

    private void call(Node.Call call, Object dot) {
        List<Node> nodes = defined.get(call.name());
        if (nodes == null) {
            throw new TemplateFault("the template " + call.name() + " is not defined", call.at());
        }
        Object data = call.pipeline().isPresent() ? evaluate(call.pipeline().get(), dot) : Nil.NIL;
        Scope outer = scope;
        scope = new Scope(data);
        budget.enter();
        walk(nodes, data);
        budget.leave();
        scope = outer;
    }

    private Object evaluate(Pipeline pipeline, Object dot) {
        budget.step(pipeline.at());
        Optional<Object> value = Optional.empty();
        for (Pipeline.Command command : pipeline.commands()) {
            value = Optional.of(evaluate(command, dot, value));
        }
        Object last = value.orElse(Nil.NIL);
        pipeline.variables().forEach(name -> set(pipeline, name, last));
        return last;
    }

    private Object evaluate(Pipeline.Command command, Object dot, Optional<Object> before) {
        Term first = command.terms().getFirst();
        List<Term> rest = command.terms().subList(1, command.terms().size());
        if (first instanceof Term.Function(var name, int at)) {
            budget.step(at);
            return function(name, rest, dot, before);
        }
        if (!rest.isEmpty() || before.isPresent()) {
            throw new TemplateFault("what is no function has no arguments", first.at());
        }
        if (first instanceof Term.Literal literal && literal.value() == Nil.NIL) {
            throw new TemplateFault("nil is not a command", literal.at());
        }
        return value(first, dot);
    }

    private Object function(String name, List<Term> terms, Object dot, Optional<Object> before) {
        if (name.equals("and") || name.equals("or")) {
            return choice(name, terms, dot, before);
        }
        List<Object> arguments = new ArrayList<>();
        terms.forEach(term -> arguments.add(value(term, dot)));
        before.ifPresent(arguments::add);
        Object result = Functions.call(name, arguments, now, budget);
        budget.charge(result instanceof String text ? text.length() : 1);
        return result;
    }

    /** The first argument that decides it, else the last; what stands behind is not evaluated. */
    private Object choice(String name, List<Term> terms, Object dot, Optional<Object> before) {
        if (terms.isEmpty() && before.isEmpty()) {
            throw new TemplateFault(name + " has no arguments");
        }
        Object value = Nil.NIL;
        for (Term term : terms) {
            value = value(term, dot);
            if (Values.isTrue(value) == name.equals("or")) {
                return value;
            }
        }
        return before.orElse(value);
    }

    private Object value(Term term, Object dot) {
        return switch (term) {
            case Term.Dot _ -> dot;
            case Term.Literal literal -> literal.value();
            case Term.Field(var names, int at) -> fields(dot, names, at);
            case Term.Variable(var name, var names, int at) -> fields(scope.value(name), names, at);
            case Term.Chain(var base, var names, int at) -> fields(value(base, dot), names, at);
            case Term.Function called -> function(called.name(), List.of(), dot, Optional.empty());
            case Term.Group group -> evaluate(group.pipeline(), dot);
        };
    }

    private Object fields(Object value, List<String> names, int at) {
        Object found = value;
        for (int index = 0; index < names.size(); index++) {
            budget.step(at);
            found = field(found, names.get(index), index > 0);
        }
        return found;
    }

    /** A field; one of nil is an error where it came from another field. */
    private static Object field(Object value, String name, boolean isOfField) {
        return switch (value) {
            case Struct struct ->
                struct.find(name)
                        .orElseThrow(() -> new TemplateFault("there is no field " + name + " in " + struct.type()));
            case Dictionary dictionary -> dictionary.entries().getOrDefault(name, Nil.NIL);
            case Nil nil when !isOfField -> nil;
            case Nil _ -> throw new TemplateFault("there is no field " + name + " in nil");
            default -> throw new TemplateFault("there is no field " + name + " in a " + Values.type(value));
        };
    }
}
