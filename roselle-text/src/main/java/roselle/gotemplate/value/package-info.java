/** Values of templates as Go has them: how they print, compare, and look in JSON. */
@NullMarked
package roselle.gotemplate.value;

import org.jspecify.annotations.NullMarked;
