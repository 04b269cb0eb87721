package roselle.jinja;

import roselle.api.InvalidRequestException;
import roselle.jinja.Symbols.FunctionScope;
import roselle.jinja.run.Action;
import roselle.jinja.syntax.Lexer;
import roselle.jinja.syntax.SourceLocation;
import roselle.jinja.syntax.StatementParser;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** Compiles a template: source to tokens to statements to actions. */
final class TemplateCompiler {
    private TemplateCompiler() {}

    static ChatTemplate compile(String name, String source, Limits limits) {
        if (source.length() > Limits.SOURCE_CHARACTERS) {
            throw new InvalidRequestException("template '" + name + "' has " + source.length() + " characters: at most "
                    + Limits.SOURCE_CHARACTERS + " are read");
        }
        String normalized = Lexer.normalized(source);
        var location = new SourceLocation(name, normalized);
        try {
            return compile(location, normalized, limits);
        } catch (TemplateFault fault) {
            throw location.exception(fault, 0);
        }
    }

    private static ChatTemplate compile(SourceLocation location, String source, Limits limits) {
        var statements = StatementParser.parse(source);
        var scope = new Scope(new Symbols(null, new FunctionScope(null)), false, false);
        SymbolAnalysis.statements(scope.symbols(), statements);
        var body = new StatementCompiler().compile(statements, scope);
        int size = scope.symbols().function().size();
        return new CompiledTemplate(location, Action.sequence(scope.entry(), body), size, limits);
    }
}
