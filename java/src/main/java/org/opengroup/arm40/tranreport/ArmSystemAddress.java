package org.opengroup.arm40.tranreport;

import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmToken;

/** Where an application runs: a network address or name, in network byte order. Immutable. */
public interface ArmSystemAddress extends ArmToken {
    /** Four bytes. */
    short FORMAT_IPV4 = 1;

    /** Four bytes and two of the port. */
    short FORMAT_IPV4PORT = 2;

    /** Sixteen bytes. */
    short FORMAT_IPV6 = 3;

    /** Sixteen bytes and two of the port. */
    short FORMAT_IPV6PORT = 4;

    /** SNA. */
    short FORMAT_SNA = 5;

    /** X.25. */
    short FORMAT_X25 = 6;

    /** A name, in characters of the network. */
    short FORMAT_HOSTNAME = 7;

    /** Sixteen bytes. */
    short FORMAT_UUID = 8;

    /**
     * The address.
     *
     * @return a copy of its bytes
     */
    byte[] getAddress();

    /**
     * How the address is to be read.
     *
     * @return one of the constants; negative numbers are for implementations
     */
    short getFormat();

    /**
     * The id.
     *
     * @return what was given, or null
     */
    ArmID getID();
}
