package roselle.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class MembersTest {
    private final List<Member> all = IntStream.range(0, 4)
            .mapToObj(index -> new Member(URI.create("http://127.0.0.1:" + (9000 + index))))
            .toList();
    private final Members members = new Members(all);

    MembersTest() {
        all.forEach(member -> member.found(MemberLoad.NONE));
    }

    private static Prompt prompt(String text, int length) {
        String body = "{\"prompt\":\"" + text.repeat(length / text.length() + 1).substring(0, length) + "\"}";
        return Prompt.of(body.getBytes(StandardCharsets.UTF_8));
    }

    private Members.Sent send(Prompt prompt, String session) {
        return members.choose(prompt, session, Set.of()).orElseThrow();
    }

    private Member answered(Prompt prompt, String session) {
        try (var sent = send(prompt, session)) {
            return sent.member();
        }
    }

    @Test
    void aBeginningIsFollowedToWhereItWasSent() {
        for (String text : List.of("one ", "two ", "three ", "four ", "five ")) {
            Member first = answered(prompt(text, 4_000), "");
            for (int turn = 1; turn < 5; turn++) {
                try (var sent = send(prompt(text, 4_000 + 1_000 * turn), "")) {
                    assertThat(sent.member()).isSameAs(first);
                    assertThat(sent.matched()).isGreaterThan(3_000 + 1_000 * (turn - 1) - 200);
                }
            }
        }
    }

    @Test
    void whatNobodyKnowsIsSpread() {
        var chosen = new HashSet<Member>();
        var open = new ArrayList<Members.Sent>();
        for (int index = 0; index < 4; index++) {
            open.add(send(prompt("prompt " + index + " ", 2_000), ""));
            chosen.add(open.getLast().member());
        }
        assertThat(chosen).hasSize(4);
        open.forEach(Members.Sent::close);
        assertThat(all).allSatisfy(member -> {
            assertThat(members.open(member)).isZero();
            assertThat(member.pendingBytes).isZero();
            assertThat(member.pending).isZero();
        });
    }

    @Test
    void aBeginningIsLeftWhereComputingItAnewIsFaster() {
        Member first = answered(prompt("same ", 2_000), "");
        var open = new ArrayList<Members.Sent>();
        for (int index = 0; index < 2; index++) { // others wait there
            open.add(send(prompt("same ", 2_000 + 9_000 * (index + 1)), ""));
        }
        assertThat(open.getFirst().member()).isSameAs(first);
        assertThat(answered(prompt("same ", 2_100), "")).isNotSameAs(first);
        open.forEach(Members.Sent::close);
    }

    @Test
    void aSessionStaysWhereItWasUnlessOthersWaitThere() {
        Member first = answered(Prompt.NONE, "");
        Member own = answered(prompt("short ", 1_000), "session");
        for (int index = 0; index < 8; index++) {
            assertThat(answered(prompt("other " + index + " ", 1_000), "session"))
                    .isSameAs(own);
        }
        own.found(new MemberLoad(40, 8, 0.5, 0));
        assertThat(answered(prompt("again ", 1_000), "session")).isNotSameAs(own);
        assertThat(first.isReady()).isTrue();
    }

    @Test
    void asksNobodyWhoIsNotReadyOrHasFailed() {
        all.get(0).lost("gone");
        for (int index = 0; index < 20; index++) {
            try (var sent = members.choose(prompt("a" + index, 500), "", Set.of(all.get(1), all.get(2)))
                    .orElseThrow()) {
                assertThat(sent.member()).isSameAs(all.get(3));
            }
        }
        assertThat(members.choose(Prompt.NONE, "", Set.copyOf(all.subList(1, 4))))
                .isEmpty();
    }

    @Test
    void goesWhereLessWaitsAndMemoryIsFree() {
        all.get(0).found(new MemberLoad(3, 64, 0.5, 0));
        all.get(1).found(new MemberLoad(0, 4, 0.99, 0));
        all.get(2).found(new MemberLoad(0, 60, 0.5, 0));
        all.get(3).found(new MemberLoad(0, 2, 0.5, 0));
        for (int index = 0; index < 8; index++) {
            assertThat(answered(prompt("new " + index, 2_000), "")).isSameAs(all.get(3));
        }
    }

    @Test
    void forgetsWhatAMemberHasLostAndWhatItsMemoryDoesNotHold() {
        Prompt prompt = prompt("same ", 20_000);
        Member first = answered(prompt, "");
        members.forget(first);
        assertThat(first.prefixes.matched(prompt)).isZero();

        members.hold(first, 1); // at least 1,024 blocks
        first.prefixes.add(prompt("long ", 200_000));
        first.prefixes.add(prompt);
        assertThat(first.prefixes.matched(prompt)).isEqualTo(prompt.blocks().length * Prompt.BLOCK);
        assertThat(first.prefixes.matched(prompt("long ", 200_000))).isLessThan(1_024 * Prompt.BLOCK);
    }

    @Test
    void readsWhatServersSayOfTheirLoad() {
        MemberLoad own = MemberLoad.of("""
                # HELP roselle_requests_waiting Requests
                roselle_requests_waiting{model="a"} 3
                roselle_requests_waiting{model="b"} 1.0
                roselle_requests_waiting_total{model="b"} 100
                roselle_requests_running{model="a"} 2
                roselle_kv_cache_usage_ratio{model="a"} 0.25
                roselle_kv_cache_usage_ratio{model="b"} 0.75
                roselle_cache_config_info{block_size="16",model="a",num_gpu_blocks="1000"} 1
                """);
        assertThat(own).isEqualTo(new MemberLoad(4, 2, 0.75, 16_000));
        assertThat(MemberLoad.of("vllm:num_requests_waiting{model_name=\"m\"} 7\nvllm:kv_cache_usage_perc 0.5\n"))
                .isEqualTo(new MemberLoad(7, 0, 0.5, 0));
        assertThat(MemberLoad.of("roselle_requests_waiting{a=\"b\"} NaN\nroselle_requests_running x\nsomething\n"))
                .isEqualTo(MemberLoad.NONE);
    }
}
