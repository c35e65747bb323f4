/** ARM 4.0: numbers and words that say more about transactions. */
package org.opengroup.arm40.metric;
