package roselle.gotemplate.run;

import java.util.ArrayList;
import java.util.List;
import roselle.jinja.text.TemplateFault;

/** The variables of one template while it runs; later ones hide earlier ones of their name. */
final class Scope {
    private record Slot(String name, Object value) {}

    private final List<Slot> slots = new ArrayList<>();

    Scope(Object data) {
        push("$", data);
    }

    int mark() {
        return slots.size();
    }

    void forget(int mark) {
        slots.subList(mark, slots.size()).clear();
    }

    void push(String name, Object value) {
        slots.add(new Slot(name, value));
    }

    void assign(String name, Object value) {
        slots.set(find(name), new Slot(name, value));
    }

    Object value(String name) {
        return slots.get(find(name)).value();
    }

    private int find(String name) {
        for (int index = slots.size() - 1; index >= 0; index--) {
            if (slots.get(index).name().equals(name)) {
                return index;
            }
        }
        throw new TemplateFault("undefined variable " + name);
    }
}
