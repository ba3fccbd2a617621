/* SPDX-License-Identifier: BSD-2-Clause */
/* test_c_names.c: symbols as traces show them, and names of functions of this process. Where no C++ library is found names stay mangled. */
#include "c_names.h"
#include "cmocka_all.h"
#include "libraries.h"
#include <dlfcn.h>
#include <string.h>

static bool demangles(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
    return library != NULL && dlsym(library, "__cxa_demangle") != NULL;
}

static void check(const char *symbol, const char *wanted)
{
    char name[HPX_C_NAME_BYTES];
    hpx_c_names_clean(name, symbol);
    assert_string_equal(name, wanted);
}

TEST(names_of_C_stay)
{
    (void)state;
    check("main", "main");
    check("_start", "_start");
    check("Java_p_C_method", "Java_p_C_method");
}

TEST(what_compilers_and_linkers_add_goes)
{
    (void)state;
    check("f.cold", "f");
    check("f.part.0", "f");
    check("f.constprop.0.isra.12", "f");
    check("f.lto_priv.3", "f");
    check("memcpy@@GLIBC_2.14", "memcpy");
    check("main.run", "main.run"); /* Go */
}

TEST(a_name_has_nothing_that_divides_a_line)
{
    (void)state;
    check("a b\nc\td", "a_b?c?d");
    check("\xc3\xa9\x7f", "???");
    check("", "");
}

TEST(a_long_name_is_cut)
{
    (void)state;
    char symbol[8192], name[HPX_C_NAME_BYTES];
    memset(symbol, 'x', sizeof symbol);
    symbol[sizeof symbol - 1] = 0;
    hpx_c_names_clean(name, symbol);
    assert_int_equal(strlen(name), HPX_C_NAME_BYTES - 1);
    memcpy(symbol, "_Z", 2);
    hpx_c_names_clean(name, symbol);
    assert_int_equal(strlen(name), HPX_C_NAME_BYTES - 1);
}

TEST(names_of_CPP_are_shown_without_parameters)
{
    (void)state;
    if (!demangles()) {
        skip();
    }
    check("_ZN9JavaCalls11call_helperEP9JavaValueRK12methodHandleP17JavaCallArgumentsP10JavaThread", "JavaCalls::call_helper");
    check("_ZN9JavaCalls11call_helperEP9JavaValue.part.0", "JavaCalls::call_helper");
    check("_ZN1AC1Ev", "A::A");
    check("_ZN1AD0Ev", "A::~A");
    check("_ZNK1AclEi", "A::operator()");
    check("_ZN1AlsEi", "A::operator<<");
    check("_ZN1AltEi", "A::operator<");
    check("_ZN1AptEv", "A::operator->");
    check("_ZN1AixEi", "A::operator[]");
    check("_ZN1AcvbEv", "A::operator_bool");
    check("_Znwm", "operator_new");
    check("_ZdlPvm", "operator_delete");
    check("_Z1fIiEvT_", "f<int>");
    check("_Z1fIjSt4pairIimEEvT_", "f<unsigned_int,std::pair<int,unsigned_long>_>");
    check("_ZN12_GLOBAL__N_11fEi", "{anonymous}::f");
    check("_ZZ1fvENKUliE_clEi", "f()::{lambda(int)#1}::operator()");
    check("_ZZNK1A1fEvENKUlvE_clEv", "A::f()_const::{lambda()#1}::operator()");
    check("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", "std::operator<<_<std::char_traits<char>_>");
    check("_ZplIiE1AIT_ES1_S1_", "operator+<int>");
    check("_Z3fooIiEPFvcET_", "_Z3fooIiEPFvcET_"); /* it returns a pointer to a function: void (*foo<int>(int))(char) */
    check("_ZN1AltIiEEbT_", "A::operator<_<int>");
    check("_ZeqI1AEbT_S1_", "operator==<A>");
    check("_ZN1AssERKS_", "A::operator<=>");
    check("_ZN1ApmEi", "A::operator->*");
    check("_ZN1AlSEi", "A::operator<<=");
    check("_Zli1_ad", "operator\"\"__");
    check("_Zno", "_Zno");
}

TEST(functions_of_this_process)
{
    (void)state;
    char library[HPX_C_NAME_BYTES], function[HPX_C_NAME_BYTES];
    struct hpx_library_place p;
    assert_null(hpx_libraries_begin());
    hpx_libraries_look();
    assert_true(hpx_libraries_find_sig((uintptr_t)functions_of_this_process, &p));
    hpx_c_names_of((struct hpx_unwind_place){p.library->number, p.offset}, library, function);
    assert_string_equal(library, "test_c_names");
    assert_string_equal(function, "functions_of_this_process");
    hpx_c_names_of((struct hpx_unwind_place){0, (uintptr_t)functions_of_this_process + 3}, library, function);
    assert_string_equal(library, "test_c_names");
    assert_string_equal(function, "functions_of_this_process");
    hpx_c_names_of((struct hpx_unwind_place){0, 5}, library, function);
    assert_string_equal(library, "[unknown]");
    assert_string_equal(function, "[unknown]");
    hpx_c_names_of((struct hpx_unwind_place){p.library->number, 3}, library, function);
    assert_string_equal(function, "[0x3]");
    hpx_c_names_end();
    hpx_libraries_end(false);
}

TEST(functions_that_the_kernel_has_mapped)
{
    (void)state;
    char library[HPX_C_NAME_BYTES], function[HPX_C_NAME_BYTES];
    assert_null(hpx_libraries_begin());
    hpx_libraries_look();
    for (uint32_t i = 1; hpx_libraries_at(i) != NULL; i++) {
        const struct hpx_library *l = hpx_libraries_at(i);
        if (l->memory == 0) {
            continue;
        }
        bool named = false;
        for (uint32_t offset = 0; offset < l->memory_bytes && !named; offset += 16) {
            hpx_c_names_of((struct hpx_unwind_place){i, offset}, library, function);
            assert_string_equal(library, HPX_LIBRARIES_VDSO);
            named = strstr(function, "gettime") != NULL;
        }
        assert_true(named);
    }
    hpx_c_names_end();
    hpx_libraries_end(false);
}

TESTS(NULL, NULL)
