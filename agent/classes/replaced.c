/* SPDX-License-Identifier: BSD-2-Clause */
/* replaced.c: see replaced.h. */
#include "replaced.h"
#include "compiler.h"
#include <string.h>

struct methods {
    const char *klass;
    const char *of; /* names with descriptors, a space between */
};

/* Those with bytecode that HotSpot 8 replaces on x86-64 and aarch64. */
static const struct methods of_8[] = {
    {"java/lang/Math", "abs(D)D sin(D)D cos(D)D tan(D)D atan2(DD)D sqrt(D)D log(D)D log10(D)D pow(DD)D exp(D)D min(II)I max(II)I "
                       "addExact(II)I addExact(JJ)J decrementExact(I)I decrementExact(J)J incrementExact(I)I incrementExact(J)J "
                       "multiplyExact(II)I multiplyExact(JJ)J negateExact(I)I negateExact(J)J subtractExact(II)I subtractExact(JJ)J"},
    {"java/lang/Float", "floatToIntBits(F)I"},
    {"java/lang/Double", "doubleToLongBits(D)J"},
    {"java/lang/Integer", "numberOfLeadingZeros(I)I numberOfTrailingZeros(I)I bitCount(I)I reverseBytes(I)I toString(I)Ljava/lang/String;"},
    {"java/lang/Long", "numberOfLeadingZeros(J)I numberOfTrailingZeros(J)I bitCount(J)I reverseBytes(J)J"},
    {"java/lang/Character", "reverseBytes(C)C"},
    {"java/lang/Short", "reverseBytes(S)S"},
    {"java/lang/String",
     "<init>(Ljava/lang/String;)V compareTo(Ljava/lang/String;)I indexOf(Ljava/lang/String;)I equals(Ljava/lang/Object;)Z"},
    {"java/lang/StringBuilder",
     "<init>()V <init>(I)V <init>(Ljava/lang/String;)V append(C)Ljava/lang/StringBuilder; append(I)Ljava/lang/StringBuilder; "
     "append(Ljava/lang/String;)Ljava/lang/StringBuilder; toString()Ljava/lang/String;"},
    {"java/lang/StringBuffer",
     "<init>()V <init>(I)V <init>(Ljava/lang/String;)V append(C)Ljava/lang/StringBuffer; append(I)Ljava/lang/StringBuffer; "
     "append(Ljava/lang/String;)Ljava/lang/StringBuffer; toString()Ljava/lang/String;"},
    {"java/lang/ref/Reference", "get()Ljava/lang/Object;"},
    {"java/util/Arrays", "copyOf([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object; "
                         "copyOfRange([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object; equals([C[C)Z"},
    {"java/math/BigInteger", "multiplyToLen([II[II[I)[I implSquareToLen([II[II)[I implMulAdd([I[IIII)I "
                             "implMontgomeryMultiply([I[I[IIJ[I)[I implMontgomerySquare([I[IIJ[I)[I"},
    {"java/nio/Buffer", "checkIndex(I)I"},
    {"sun/nio/cs/ISO_8859_1$Encoder", "encodeISOArray([CI[BII)I"},
    {"sun/security/provider/SHA", "implCompress0([BI)V"},
    {"sun/security/provider/SHA2", "implCompress0([BI)V"},
    {"sun/security/provider/SHA5", "implCompress0([BI)V"},
    {"sun/security/provider/DigestBase", "implCompressMultiBlock0([BII)I"},
    {"com/sun/crypto/provider/AESCrypt", "implEncryptBlock([BI[BI)V implDecryptBlock([BI[BI)V"},
    {"com/sun/crypto/provider/CipherBlockChaining", "implEncrypt([BII[BI)I implDecrypt([BII[BI)I"},
    {"com/sun/crypto/provider/GHASH", "processBlocks([BII[J[J)V"},
    {"sun/misc/Unsafe", "getAndAddInt(Ljava/lang/Object;JI)I getAndAddLong(Ljava/lang/Object;JJ)J getAndSetInt(Ljava/lang/Object;JI)I "
                        "getAndSetLong(Ljava/lang/Object;JJ)J getAndSetObject(Ljava/lang/Object;JLjava/lang/Object;)Ljava/lang/Object;"},
};

/* Annotated, but the VM only recognises them, or inlines their bytecode with its probes. */
static const struct methods never[] = {
    {"java/lang/Object", "<init>()V"},
    {"java/lang/reflect/Method", "invoke(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;"},
    {"java/lang/Boolean", "booleanValue()Z"},
    {"java/lang/Byte", "byteValue()B"},
    {"java/lang/Character", "charValue()C"},
    {"java/lang/Double", "doubleValue()D"},
    {"java/lang/Float", "floatValue()F"},
    {"java/lang/Integer", "intValue()I"},
    {"java/lang/Long", "longValue()J"},
    {"java/lang/Short", "shortValue()S"},
};

static bool is(struct hprofx_bci_name name, const char *s, size_t n)
{
    return name.len == n && memcmp(name.at, s, n) == 0;
}

static bool has(const struct methods *m, size_t n, const struct hprofx_bci_method *of)
{
    for (size_t i = 0; i < n; i++) {
        if (!is(of->class_name, m[i].klass, strlen(m[i].klass))) {
            continue;
        }
        for (const char *at = m[i].of; *at != 0;) {
            size_t word = strcspn(at, " "), name = strcspn(at, "(");
            if (is(of->name, at, name) && is(of->desc, at + name, word - name)) {
                return true;
            }
            at += word + (at[word] == ' ');
        }
    }
    return false;
}

bool hpx_is_of_jdk(const char *name, size_t n)
{
    static const char *const packages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
    bool of = false;
    for (size_t i = 0; i < HPX_ARRAY_LEN(packages); i++) {
        size_t len = strlen(packages[i]);
        of = of || (n > len && memcmp(name, packages[i], len) == 0);
    }
    return of;
}

/* As all names in the JDK; the report prints them. */
static bool is_plain(struct hprofx_bci_name name)
{
    bool plain = true;
    for (uint32_t i = 0; i < name.len; i++) {
        plain = plain && name.at[i] > ' ' && name.at[i] <= '~';
    }
    return plain;
}

/* The VM heeds the annotation in classes of the JDK alone. */
bool hpx_replaced_is(const struct hprofx_bci_method *m, int release)
{
    if (release < 9) {
        return has(of_8, HPX_ARRAY_LEN(of_8), m);
    }
    return m->intrinsic && hpx_is_of_jdk(m->class_name.at, m->class_name.len) && is_plain(m->class_name) && is_plain(m->name) &&
           !has(never, HPX_ARRAY_LEN(never), m);
}
