package roselle.cuda.adapter;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.step.StepInputs;
import roselle.cuda.memory.CudaAdapter;
import roselle.cuda.memory.Gpu;

/**
 * The adapters that a device has a copy of: those of the step, and others while there is room. Copies of adapters that nobody holds
 * any more go when another is copied; where memory ends, that of the one that was used longest ago.
 */
final class AdapterMemory {
    private final Gpu device;
    private final List<Resident> residents = new ArrayList<>();
    private long step;

    /** A copy, which does not keep its adapter alive. */
    private record Resident(WeakReference<CudaAdapter> adapter, long address, long bytes) {
        /** The last step that had it; before all others where nobody holds it any more. */
        long lastStep() {
            CudaAdapter held = adapter.get();
            return held == null ? 0 : held.lastStep();
        }
    }

    AdapterMemory(Gpu device) {
        this.device = device;
    }

    /** Copies those of a step's adapters that the device does not have. */
    void bring(StepInputs inputs) {
        step++;
        for (int s = 0; s < inputs.sequences; s++) {
            if (inputs.adapter[s] instanceof CudaAdapter adapter) {
                adapter.useIn(step);
            }
        }
        for (int s = 0; s < inputs.sequences; s++) {
            if (inputs.adapter[s] instanceof CudaAdapter adapter && adapter.address() == 0) {
                copy(adapter);
            }
        }
    }

    private void copy(CudaAdapter adapter) {
        residents.stream().filter(each -> each.lastStep() == 0).toList().forEach(this::giveBack);
        long address = take(adapter.bytes());
        device.driver().copyIn(address, adapter.packed(), adapter.bytes(), device.stream());
        adapter.moveTo(address);
        residents.add(new Resident(new WeakReference<>(adapter), address, adapter.bytes()));
    }

    private long take(long bytes) {
        while (true) {
            try {
                return device.memory().borrow(bytes);
            } catch (DeviceException full) {
                Resident oldest = oldest();
                if (oldest == null) {
                    throw full;
                }
                giveBack(oldest);
            }
        }
    }

    private @Nullable Resident oldest() {
        return residents.stream()
                .filter(each -> each.lastStep() < step)
                .min(Comparator.comparingLong(Resident::lastStep))
                .orElse(null);
    }

    /** Gives back all copies. */
    void forget() {
        List.copyOf(residents).forEach(this::giveBack);
    }

    private void giveBack(Resident resident) {
        device.synchronize(); // steps that read it have ended
        residents.remove(resident);
        CudaAdapter held = resident.adapter.get();
        if (held != null) {
            held.moveTo(0);
        }
        device.memory().giveBack(resident.address, resident.bytes);
    }
}
