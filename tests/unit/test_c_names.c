/* SPDX-License-Identifier: BSD-2-Clause */
/* test_c_names.c: symbols as traces show them, and names of functions of this process. Where no C++ library is found names stay mangled. */
#include "c_names.h"
#include "cmocka_all.h"
#include "libraries.h"
#include <dlfcn.h>
#include <string.h>

static int held; /* libraries that were loaded, and not let go */

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
int __real_dlclose(void *library);
int __wrap_dlclose(void *library);

void *__wrap_dlopen(const char *name, int flags)
{
    void *library = __real_dlopen(name, flags);
    held += library != NULL;
    return library;
}

int __wrap_dlclose(void *library)
{
    held--;
    return __real_dlclose(library);
}

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
    check("_Z3fooIiEPFvcET_", "foo<int>");   /* void (*foo<int>(int))(char) */
    check("_Z3fooIiEM1AFvcET_", "foo<int>"); /* void (A::*foo<int>(int))(char) */
    check("_Z3fooIiERA3_iT_", "foo<int>");   /* int (&foo<int>(int)) [3] */
    check("_Z1fIiEDTplfp_fp_ET_", "f<int>"); /* decltype ({parm#1}+{parm#1}) f<int>(int) */
    check("_Z1fIiEDcT_", "f<int>");          /* decltype(auto) f<int>(int) */
    check("_ZSt5beginISt6vectorIiSaIiEEEDTcldtfp_5beginEERT_", "std::begin<std::vector<int,std::allocator<int>_>_>");
    check("_ZZNO1A1fEvENKUlvE_clEv", "A::f()_&&::{lambda()#1}::operator()");
    check("_ZZNKR1A1fEvENKUlvE_clEv", "A::f()_const_&::{lambda()#1}::operator()");
    check("_ZNVK1A1fEv", "A::f");
    check("_ZN1AcvSt8functionIFvvEEEv", "A::operator_std::function<void_()>");
    check("_ZZ1fvENKUliE_cvPFviEEv", "f()::{lambda(int)#1}::operator_void_(*)(int)");
    check("_ZN1AcvM1AKFivEEv", "A::operator_int_(A::*)()_const");
    check("_ZZN1AcvbEvENKUlvE_clEv", "A::operator_bool()::{lambda()#1}::operator()");
    check("_ZN1AnaEm", "A::operator_new[]");
    check("_ZN1AIXgtLi4ELi3EEE1fEv", "A<((4)>(3))>::f");
    check("_ZN1AIXadsr1BplEE1fEv", "A<&B::operator+>::f");
    check("_ZThn8_N1A1fEv", "A::f"); /* non-virtual thunk to */
    check("_ZN1AltIiEEbT_", "A::operator<_<int>");
    check("_ZeqI1AEbT_S1_", "operator==<A>");
    check("_ZN1AssERKS_", "A::operator<=>");
    check("_ZN1ApmEi", "A::operator->*");
    check("_ZN1AlSEi", "A::operator<<=");
    check("_Zli1_ad", "operator\"\"__");
    check("_Zno", "_Zno");
}

TEST(the_library_that_knows_names_of_CPP_is_let_go)
{
    (void)state;
    if (!demangles()) {
        skip();
    }
    hpx_c_names_end();
    const int before = held;
    for (int i = 0; i < 3; i++) {
        check("_ZN1AC1Ev", "A::A");
        assert_int_equal(held, before + 1);
        hpx_c_names_end();
        assert_int_equal(held, before);
    }
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
