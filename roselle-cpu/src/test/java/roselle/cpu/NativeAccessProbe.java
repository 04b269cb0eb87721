package roselle.cpu;

import java.util.Locale;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;

/** Opens backends on the paths that the arguments name, in a process of its own. */
public final class NativeAccessProbe {
    private NativeAccessProbe() {}

    public static void main(String[] arguments) {
        for (String path : arguments) {
            CpuOptions options = CpuOptions.of(1).with(CpuPath.valueOf(path.toUpperCase(Locale.ROOT)));
            try (var backend = new CpuDevice(options)) {
                System.out.println("opened " + backend.describe());
            }
        }
    }
}
