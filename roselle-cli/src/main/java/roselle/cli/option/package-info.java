/** Options that several commands share: models by name, the device, the engine, settings from files. */
@NullMarked
package roselle.cli.option;

import org.jspecify.annotations.NullMarked;
