package roselle.cli.serve;

import picocli.CommandLine.Option;
import roselle.cli.report.Heading;
import roselle.server.config.KeyLimits;

/** The options that say what one API key may take. */
@Heading("Limits of the key")
final class KeyLimitFlags {
    @Option(
            names = "--key-requests",
            paramLabel = "N",
            description = "Requests a minute of one API key; default: 6000.")
    private int requests = KeyLimits.DEFAULT.requestsPerMinute();

    @Option(
            names = "--key-tokens",
            paramLabel = "N",
            description = "Tokens a minute of one API key, of prompts and answers; default: 6000000.")
    private long tokens = KeyLimits.DEFAULT.tokensPerMinute();

    @Option(
            names = "--key-concurrent",
            paramLabel = "N",
            description = "Requests of one API key that are answered at a time; default: 256.")
    private int concurrent = KeyLimits.DEFAULT.concurrent();

    KeyLimits limits() {
        return new KeyLimits(requests, tokens, concurrent);
    }
}
