@NullMarked
package roselle.spring;

import org.jspecify.annotations.NullMarked;
