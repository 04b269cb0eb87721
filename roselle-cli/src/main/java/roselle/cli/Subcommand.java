package roselle.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;
import roselle.cli.bench.BenchCommand;
import roselle.cli.model.CompareCommand;
import roselle.cli.model.EmbedCommand;
import roselle.cli.model.ImportanceCommand;
import roselle.cli.model.InspectCommand;
import roselle.cli.model.ListCommand;
import roselle.cli.model.MergeCommand;
import roselle.cli.model.PullCommand;
import roselle.cli.model.QuantizeCommand;
import roselle.cli.model.RemoveCommand;
import roselle.cli.model.RerankCommand;
import roselle.cli.model.ShowCommand;
import roselle.cli.model.TemplateCommand;
import roselle.cli.model.TokenizeCommand;
import roselle.cli.model.VerifyCommand;
import roselle.cli.report.VersionCommand;
import roselle.cli.run.BatchCommand;
import roselle.cli.run.McpCommand;
import roselle.cli.run.RunCommand;
import roselle.cli.serve.GatewayCommand;
import roselle.cli.serve.KeyCommand;
import roselle.cli.serve.LoadCommand;
import roselle.cli.serve.PsCommand;
import roselle.cli.serve.ServeCommand;
import roselle.cli.serve.StopCommand;

/**
 * One command of the executable: its name, its line in the usage text, and how to make it.
 *
 * <p>Start-up time is why a command's class is loaded only when its name is among the arguments. {@code make} is
 * therefore a lambda with a body, never a constructor reference: linking the latter loads the class.
 */
record Subcommand(String name, String summary, Supplier<Object> make) {
    /** All commands, in the order of the usage text. */
    static final List<Subcommand> ALL = List.of(
            new Subcommand("bench", "Measure how fast a model runs.", () -> new BenchCommand()),
            new Subcommand("run", "Answer a prompt, or hold a conversation.", () -> new RunCommand()),
            new Subcommand("batch", "Answer a file of requests.", () -> new BatchCommand()),
            new Subcommand(
                    "mcp", "Offer a model to MCP clients, on standard input and output.", () -> new McpCommand()),
            new Subcommand("embed", "Turn texts into vectors with an encoder.", () -> new EmbedCommand()),
            new Subcommand(
                    "rerank", "Put texts into the order in which they fit to queries.", () -> new RerankCommand()),
            new Subcommand("serve", "Serve models over HTTP.", () -> new ServeCommand()),
            new Subcommand("gateway", "Have several servers answer at one address.", () -> new GatewayCommand()),
            new Subcommand("ps", "Tell which models a server has loaded.", () -> new PsCommand()),
            new Subcommand("load", "Have a server load a model.", () -> new LoadCommand()),
            new Subcommand("stop", "Have a server unload a model.", () -> new StopCommand()),
            new Subcommand("key", "Make an API key for a server.", () -> new KeyCommand()),
            new Subcommand("pull", "Fetch a model from the Hugging Face hub.", () -> new PullCommand()),
            new Subcommand("list", "List the models that were fetched.", () -> new ListCommand()),
            new Subcommand("show", "Tell what is known of a model that was fetched.", () -> new ShowCommand()),
            new Subcommand("rm", "Remove models that were fetched.", () -> new RemoveCommand()),
            new Subcommand("inspect", "Tell what a model is and what it needs.", () -> new InspectCommand()),
            new Subcommand(
                    "verify",
                    "Compare logits and greedy tokens with those of another implementation.",
                    () -> new VerifyCommand()),
            new Subcommand("compare", "Tell what a model lost against another, on a text.", () -> new CompareCommand()),
            new Subcommand("quantize", "Write a model's numbers in fewer bits, as GGUF.", () -> new QuantizeCommand()),
            new Subcommand("merge", "Write a model with an adapter merged into it.", () -> new MergeCommand()),
            new Subcommand("imatrix", "Find out which columns of a model matter.", () -> new ImportanceCommand()),
            new Subcommand("tokenize", "Turn text into token ids, or ids into text.", () -> new TokenizeCommand()),
            new Subcommand(
                    "template", "Render a chat template: variables in, a prompt out.", () -> new TemplateCommand()),
            new Subcommand("doctor", "Tell what this machine offers, and what is missing.", () -> new DoctorCommand()),
            new Subcommand("completion", "Have a shell complete commands and options.", () -> new CompletionCommand()),
            new Subcommand("version", "Print the version of Roselle and of Java.", () -> new VersionCommand()));

    /** Their names by what they are for, as the usage text groups them. */
    static Map<String, List<String>> groups() {
        var groups = new LinkedHashMap<String, List<String>>();
        groups.put("Ask", List.of("run", "batch", "embed", "rerank"));
        groups.put("Serve", List.of("serve", "gateway", "ps", "load", "stop", "key", "mcp"));
        groups.put("Models", List.of("pull", "list", "show", "rm", "inspect"));
        groups.put("Convert and compare", List.of("quantize", "merge", "imatrix", "compare", "verify"));
        groups.put("Look inside", List.of("tokenize", "template"));
        groups.put("Measure", List.of("bench"));
        groups.put("This program", List.of("doctor", "completion", "version", "help"));
        return groups;
    }

    /** The command itself, its class loaded. */
    CommandSpec open() {
        return describe(CommandSpec.forAnnotatedObject(make.get()));
    }

    /** A stand-in that has only the name and the summary. */
    CommandSpec listed() {
        return describe(CommandSpec.create());
    }

    private CommandSpec describe(CommandSpec specification) {
        specification.usageMessage().description(summary);
        return specification.name(name).mixinStandardHelpOptions(true);
    }
}
