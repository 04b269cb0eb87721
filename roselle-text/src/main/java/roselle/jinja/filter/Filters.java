package roselle.jinja.filter;

import java.util.Map;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Builtin;

/** All filters by name. */
public final class Filters {
    public static final Map<String, Builtin> ALL = new Builtin.Table()
            .all(TextFilters.ALL)
            .all(MarkupFilters.ALL)
            .all(NumberFilters.ALL)
            .all(SequenceFilters.ALL)
            .all(OrderFilters.ALL)
            .all(SelectionFilters.ALL)
            .raw("tojson", JsonWriter::filter)
            .build();

    private Filters() {}

    static Builtin named(String name) {
        var filter = ALL.get(name);
        if (filter == null) {
            throw new TemplateFault("no filter named '" + name + "'");
        }
        return filter;
    }
}
