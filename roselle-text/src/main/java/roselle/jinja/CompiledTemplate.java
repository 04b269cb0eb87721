package roselle.jinja;

import java.time.LocalDateTime;
import java.util.Map;
import roselle.api.InvalidRequestException;
import roselle.jinja.function.Environment;
import roselle.jinja.run.Action;
import roselle.jinja.run.Activation;
import roselle.jinja.syntax.SourceLocation;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Rendering;

/** A template as actions that run over slots. */
final class CompiledTemplate implements ChatTemplate {
    private final SourceLocation location;
    private final Action body;
    private final int slots;
    private final Limits limits;

    CompiledTemplate(SourceLocation location, Action body, int slots, Limits limits) {
        this.location = location;
        this.body = body;
        this.slots = slots;
        this.limits = limits;
    }

    @Override
    public String render(Map<String, ?> variables, LocalDateTime now) {
        var rendering = new Rendering(limits, new Environment(variables), now);
        try {
            body.execute(new Activation(rendering, null, slots));
            return rendering.output().toString();
        } catch (TemplateFault fault) {
            throw location.exception(fault, rendering.at());
        } catch (StackOverflowError _) {
            // The limits on depth come first on any thread with a stack of the usual size.
            throw exceeded(rendering, "the template is nested too deeply for this thread's stack");
        }
    }

    @Override
    public boolean mentions(String variable) {
        return location.source().contains(variable);
    }

    @Override
    public boolean writesBeginning() {
        return true;
    }

    private InvalidRequestException exceeded(Rendering rendering, String message) {
        return location.exception(new TemplateFault(message), rendering.at());
    }
}
