package roselle.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import roselle.server.DeployedSeries;

final class GatewayMetersTest {
    @Test
    void theGatewayTellsWhatDeploymentsAskFor() {
        var member = new Member(URI.create("http://127.0.0.1:1"));
        member.found(MemberLoad.NONE);
        var members = new Members(List.of(member));
        var meters = new GatewayMeters(members);
        try (var sent = members.choose(Prompt.NONE, "", Set.of()).orElseThrow()) {
            meters.sent(sent, Prompt.NONE, 1_000);
        }
        meters.begun(1_000);
        meters.answered(member, 200);
        meters.failed(member, "failed");
        meters.refused("overloaded");
        Set<String> asked = DeployedSeries.asked().stream()
                .filter(name -> name.startsWith("roselle_gateway_"))
                .collect(Collectors.toSet());

        assertThat(asked).hasSizeGreaterThan(4);
        assertThat(DeployedSeries.told(meters.scrape())).containsAll(asked);
    }
}
