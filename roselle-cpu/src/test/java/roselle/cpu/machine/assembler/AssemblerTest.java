package roselle.cpu.machine.assembler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class AssemblerTest {
    @Test
    void everyFormHasTheBytesOfGnuAs() throws IOException {
        Map<String, String> golden = golden();
        var written = new LinkedHashMap<String, String>();
        InstructionForms.all().forEach((text, form) -> {
            var code = new Assembler();
            form.accept(code);
            written.put(text, HexFormat.of().formatHex(code.bytes()));
        });
        assertThat(written).hasSizeGreaterThan(1000).isEqualTo(golden);
    }

    @Test
    void everyOpcodeIsAmongTheForms() {
        for (Opcode opcode : Opcode.values()) {
            assertThat(InstructionForms.all().keySet())
                    .anyMatch(text -> (text + " ").contains(opcode.mnemonic(512) + " "));
        }
    }

    @Test
    void aJumpToNowhereIsRefused() {
        var code = new Assembler();
        code.jump(code.label());
        assertThatThrownBy(code::bytes).hasMessageContaining("nowhere");
    }

    @Test
    void registersThatDoNotExistAreRefused() {
        assertThatThrownBy(() -> Operand.zmm(32)).hasMessageContaining("no register 32");
        assertThatThrownBy(() -> Operand.ymm(16)).hasMessageContaining("no register 16");
        assertThatThrownBy(() -> new Operand.Tile(8)).hasMessageContaining("no tile 8");
    }

    private static Map<String, String> golden() throws IOException {
        var golden = new LinkedHashMap<String, String>();
        try (InputStream file =
                Objects.requireNonNull(AssemblerTest.class.getResourceAsStream("/assembler/golden.txt"))) {
            for (String line : new String(file.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                int tab = line.indexOf('\t');
                golden.put(line.substring(tab + 1), line.substring(0, tab));
            }
        }
        return golden;
    }
}
