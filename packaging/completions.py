#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""completions.py HPROFX OPTIONS-DOC bash|zsh|fish [EMULATOR ARGUMENT...]: prints what completes command lines of hprofx in that shell, from the tables of the programs.

`hprofx --print-table` prints lines of fields with tabs between: "suffix", and a suffix of formats; "verb", its name, the kind of its words (enum
hpx_words), "separates" if -- separates words, its summary; "option" of the verb above, its letter, the kind of its value (enum hpx_value; empty: it has
none), the choices, its help. Names of JVMs are data: they are quoted, and never evaluated."""
import subprocess
import sys


class Table:
    def __init__(self, hprofx, options_doc, emulator):
        self.verbs, self.options, self.suffixes = {}, {}, []
        for line in self.said(*emulator, hprofx, '--print-table').splitlines():
            kind, *of = line.split('\t')
            if kind == 'suffix':
                self.suffixes += of
            elif kind == 'verb':
                verb = self.verbs[of[0]] = {'words': of[1], 'separates': of[2] != '', 'summary': of[3], 'options': []}
            else:
                verb['options'].append((of[0], of[1], of[4]))
                if self.options.get(of[0], {}).get('value') != 'suffix':  # --to is a suffix, and to view and diff a time, which nothing completes
                    self.options[of[0]] = {'letter': of[1], 'value': of[2], 'choices': of[3].split()}
        self.agent = self.said(*emulator, options_doc, '--words').splitlines()

    @staticmethod
    def said(*command):
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()

    def named(self):
        return [name for name in self.verbs if name]

    def of(self, *words):
        """The verbs whose words are of these kinds."""
        return [name for name, verb in self.verbs.items() if name and verb['words'] in words]

    def flags(self, verb):
        """-d --duration ... of a verb; the letters alone where there is no verb, as one types them."""
        return [flag for name, letter, _ in self.verbs[verb]['options'] for flag in (['-' + letter] if letter else []) + ['--' + name]]

    def spelt(self, test):
        """Every spelling of the options for which the test holds."""
        return [flag for name, o in self.options.items() if test(o) for flag in (['-' + o['letter']] if o['letter'] else []) + ['--' + name]]

    def lists(self):
        """(options, their choices): those that share choices together."""
        found = {}
        for name, o in self.options.items():
            words = self.suffixes if o['value'] == 'suffix' else o['choices']
            if words:
                found.setdefault(' '.join(words), []).extend((['-' + o['letter']] if o['letter'] else []) + ['--' + name])
        return [(flags, words) for words, flags in found.items()]


BASH = r'''# SPDX-License-Identifier: BSD-2-Clause
# Completion of hprofx for bash, made by completions.py. Names of JVMs are data: they are quoted, and never evaluated.
# The functions share the variables of _hprofx: words (those before the cursor's, unquoted), cur (the cursor's, unquoted), quote (which is open
# in it), head (what bash does not replace of it).

_hprofx_agent_options=(
@AGENT@
)

# Takes the line up to the cursor apart. $1: the part of the cursor's word that bash replaces; it also splits at : and =.
_hprofx_take_apart() {
    local line=${COMP_LINE:0:COMP_POINT} typed='' c i
    words=() cur='' quote=''
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ $quote == "$c" ]]; then
            quote=''
        elif [[ $c == \\ && $quote != \' ]]; then
            ((i++))
            c+=${line:i:1}
            cur+=${c:1}
        elif [[ -z $quote && $c == [\'\"] ]]; then
            quote=$c
        elif [[ -z $quote && $c == [[:space:]] ]]; then
            [[ -z $typed ]] || words+=("$cur")
            cur='' typed='' c=''
        else
            cur+=$c
        fi
        typed+=$c
    done
    head=${typed%"$1"}
}

# Offers those of its arguments that begin as the cursor's word.
_hprofx_offer() {
    local word text
    for word; do
        [[ $word == "$cur"* ]] || continue
        case $quote in
        \') text=${word//\'/\'\\\'\'} ;;
        \")
            text=${word//\\/\\\\}
            text=${text//\"/\\\"}
            text=${text//\$/\\\$}
            text=${text//\`/\\\`}
            text=${text//!/\"\'!\'\"}
            ;;
        *)
            printf -v text %q "$word"
            text=${text//\\,/,}
            ;;
        esac
        COMPREPLY+=("${text#"$head"}")
    done
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace
    fi
}

# Numbers and names of the JVMs that run.
_hprofx_offer_jvms() {
    local program=${words[0]/#\~\//$HOME/} number user name
    local -a found=()
    while IFS=' ' read -r number user name; do
        name=${name%  (hprofx is loaded)}
        [[ $number == +([0-9]) && $user == +([0-9]) ]] || continue
        found+=("$number")
        [[ -z $name || $name == \? ]] || found+=("$name")
    done < <("$program" list 2>/dev/null)
    _hprofx_offer "${found[@]}"
}

_hprofx_offer_agent_options() {
    local before='' word
    local -a all=()
    [[ $cur != *,* ]] || before=${cur%,*},
    for word in "${_hprofx_agent_options[@]}"; do
        all+=("$before$word")
    done
    _hprofx_offer "${all[@]}"
}

_hprofx_offer_options() {
    case $1 in
@OPTIONS@
    esac
}

_hprofx() {
    local cur quote head word wants='' behind=-1
    local -a words plain=()
    COMPREPLY=()
    _hprofx_take_apart "$2"
    for word in "${words[@]:1}"; do
        if ((behind >= 0)); then
            ((behind++))
        elif [[ -n $wants ]]; then
            wants=''
        else
            case $word in
            --) [[ ${plain[0]-} != @(@PROGRAM@) ]] || behind=0 ;;
            @VALUED@) wants=$word ;;
            -?*) ;;
            *) plain+=("$word") ;;
            esac
        fi
    done
    if ((behind == 0)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    elif ((behind > 0)); then
        compopt -o default
    elif [[ -n $wants ]]; then
        case $wants in
@CHOICES@
        @FILES@) compopt -o default ;;
        esac
    elif [[ $cur == -?* || $cur == - ]]; then
        _hprofx_offer_options "${plain[0]-}"
    else
        case ${#plain[@]}:${plain[0]-} in
        0:)
            _hprofx_offer @VERBS@
            _hprofx_offer_jvms
            ;;
        @1:JVM@) _hprofx_offer_jvms ;;
        @1:FILE@ | @*:MANY@) compopt -o default ;;
        @2:SESSION@ | @1:PROGRAM@) _hprofx_offer_agent_options ;;
        @*:ANY@) ;;
        1:*) _hprofx_offer_agent_options ;;
        esac
    fi
}

complete -F _hprofx hprofx
'''

ZSH = r'''#compdef hprofx
# SPDX-License-Identifier: BSD-2-Clause
# Completion of hprofx for zsh, made by completions.py. Names of JVMs are data: compadd quotes them.

_hprofx_jvms() {
    local line program=${(Q)1}
    local -a numbers names match mbegin mend
    program=${program/#\~\//$HOME/}
    for line in "${(@f)$("$program" list 2>/dev/null)}"; do
        if [[ $line =~ '^ *([0-9]+) +[0-9]+ +(.*)$' ]]; then
            numbers+=("$match[1]")
            line=${match[2]%  \(hprofx is loaded\)}
            [[ $line == '?' ]] || names+=("$line")
        fi
    done
    compadd -V numbers -a numbers
    compadd -J names -a names
}

_hprofx_agent_options() {
    local -a all
    all=(
@AGENT@
    )
    compset -P '*,'
    compadd -S '' -- ${(M)all:#*=}
    compadd -- ${all:#*=}
}

_hprofx_options() {
    case $1 in
@OPTIONS@
    esac
}

_hprofx() {
    local word wants
    local -a plain
    integer i behind
    for ((i = 2; i < CURRENT; i++)); do
        word=${(Q)words[i]}
        if [[ -n $wants ]]; then
            wants=''
        elif [[ $word == -- ]]; then
            if [[ $plain[1] == (@PROGRAM@) ]]; then
                behind=i
                break
            fi
        elif [[ $word == (@VALUED@) ]]; then
            wants=$word
        elif [[ $word != -?* ]]; then
            plain+=("$word")
        fi
    done
    if ((behind)); then
        shift behind words
        ((CURRENT -= behind))
        _normal
    elif [[ -n $wants ]]; then
        case $wants in
@CHOICES@
        (@FILES@) _files ;;
        (*) _message 'a time, a name or a number' ;;
        esac
    elif [[ $PREFIX == -* ]]; then
        _hprofx_options "$plain[1]"
    else
        case $#plain:$plain[1] in
        0:)
            compadd -V subcommands @VERBS@
            _hprofx_jvms "$words[1]"
            ;;
        1:(@JVM@)) _hprofx_jvms "$words[1]" ;;
        1:(@FILE@)|*:(@MANY@)) _files ;;
        2:(@SESSION@)|1:(@PROGRAM@)) _hprofx_agent_options ;;
        *:(@ANY@)) ;;
        1:*) _hprofx_agent_options ;;
        esac
    fi
}

_hprofx "$@"
'''

FISH = r'''# SPDX-License-Identifier: BSD-2-Clause
# Completion of hprofx for fish, made by completions.py. Names of JVMs are data: fish quotes what a function prints.

set -g __hprofx_agent_options (string split -n \n '
@AGENT@
')

# What may stand at the cursor: first, jvm, agent, file, command or nothing; behind it the subcommand.
function __hprofx_place
    set -l tokens (commandline -opc)
    set -l plain
    set -l wants no
    for token in $tokens[2..-1]
        if test $wants = yes
            set wants no
        else if test "$token" = --
            if string match -qr -- '^(@PROGRAM@)$' "$plain[1]"
                echo command
                return
            end
        else if string match -qr -- '^(@VALUED@)$' "$token"
            set wants yes
        else if not string match -q -- '-?*' "$token"
            set -a plain "$token"
        end
    end
    set -l n (count $plain)
    if test $n = 0
        echo first
        return
    end
    switch "$plain[1]"
        case @JVM@
            test $n = 1; and echo jvm $plain[1]; and return
            contains -- $plain[1] @SESSION@; and test $n = 2; and echo agent $plain[1]; and return
        case @PROGRAM@
            test $n = 1; and echo agent $plain[1]; and return
        case @FILE@
            test $n = 1; and echo file $plain[1]; and return
        case @MANY@
            echo file $plain[1]
            return
        case @OTHER@
        case '*'
            test $n = 1; and echo agent; and return
            echo nothing
            return
    end
    echo nothing $plain[1]
end

function __hprofx_at
    string match -qr -- "^($argv[1])( |\$)" (__hprofx_place)
end

# The options of a subcommand; without a name those of none, also where a JVM was named.
function __hprofx_of
    set -l place (__hprofx_place)
    test -n "$argv[1]"; and string match -qr -- " ($argv[1])\$" $place; or begin
        test -z "$argv[1]"; and string match -qr -- '^(first|agent|nothing)$' $place
    end
end

function __hprofx_jvms
    set -l program (commandline -opc)[1]
    set -l found ($program list 2>/dev/null | string match -r -- '^ *[0-9]+ +[0-9]+ +.*$')
    string replace -r -- '^ *([0-9]+) +[0-9]+ +(.*)$' '$1\t$2' $found
    string replace -r -- '^ *([0-9]+) +[0-9]+ +(.*?)(  \(hprofx is loaded\))?$' '$2\t$1' $found | string match -v -r -- '^\?\t'
end

function __hprofx_agent_words
    set -l before (string match -r -- '^.*,' (commandline -ct))
    string replace -r -- '^' "$before" $__hprofx_agent_options
end

complete -c hprofx -f
complete -c hprofx -n '__hprofx_at "first|jvm"' -a '(__hprofx_jvms)'
complete -c hprofx -n '__hprofx_at agent' -a '(__hprofx_agent_words)'
complete -c hprofx -n '__hprofx_at file' -F
complete -c hprofx -n '__hprofx_at command' -a '(__fish_complete_subcommand --fcs-skip=3)'
@VERBS@
@OPTIONS@
'''


def quoted(text):
    return "'%s'" % text.replace('\\', '\\\\').replace("'", "\\'")


def fish_options(table):
    lines = []
    for verb, of in table.verbs.items():
        for name, letter, told in of['options']:
            o = table.options[name]
            words = table.suffixes if o['value'] == 'suffix' else o['choices']
            value = '' if not o['value'] else ' -r -F' if o['value'] == 'file' else " -x -a '%s'" % ' '.join(words) if words else ' -x'
            lines.append("complete -c hprofx -n '__hprofx_of \"%s\"'%s -l %s%s -d %s" % (verb, ' -s ' + letter if letter else '', name, value, quoted(told)))
    return lines


def main():
    table, shell = Table(sys.argv[1], sys.argv[2], sys.argv[4:]), sys.argv[3]
    fish = shell == 'fish'
    or_ = ' '.join if fish else '|'.join
    flags = [(verb if verb else '*', table.flags(verb)) for verb in sorted(table.verbs, reverse=True)]  # '' last: as a pattern it is all
    fill = {
        'AGENT': '\n'.join(table.agent),
        'PROGRAM': '|'.join(table.of('program')),
        'VALUED': '|'.join(table.spelt(lambda o: o['value'])),
        'FILES': '|'.join(table.spelt(lambda o: o['value'] == 'file')),
        'JVM': or_(table.of('jvm', 'session')), 'SESSION': or_(table.of('session')), 'FILE': or_(table.of('file')), 'MANY': or_(table.of('files')),
        'ANY': or_(table.named()), 'OTHER': or_(table.of('none')),
        'VERBS': ' '.join(table.named()),
    }
    text = {'bash': BASH, 'zsh': ZSH, 'fish': FISH}[shell]
    if shell == 'bash':
        fill['OPTIONS'] = '\n'.join('    %s) _hprofx_offer %s ;;' % (verb, ' '.join(words)) for verb, words in flags)
        fill['CHOICES'] = '\n'.join('        %s) _hprofx_offer %s ;;' % ('|'.join(of), words) for of, words in table.lists())
    elif shell == 'zsh':
        fill['OPTIONS'] = '\n'.join('    (%s) compadd -- %s ;;' % (verb, ' '.join(words)) for verb, words in flags)
        fill['CHOICES'] = '\n'.join('        (%s) compadd -- %s ;;' % ('|'.join(of), words) for of, words in table.lists())
    else:
        fill['VERBS'] = '\n'.join("complete -c hprofx -n '__hprofx_at first' -a %s -d %s" % (name, quoted(table.verbs[name]['summary'])) for name in table.named())
        fill['OPTIONS'] = '\n'.join(fish_options(table))
    if shell == 'bash':  # which may not know @(a|b) here
        for at, name in (('1', 'JVM'), ('1', 'FILE'), ('*', 'MANY'), ('2', 'SESSION'), ('1', 'PROGRAM'), ('*', 'ANY')):
            fill[at + ':' + name] = ' | '.join('%s:%s' % (at, verb) for verb in fill[name].split('|'))
    for name, value in fill.items():
        text = text.replace('@%s@' % name, value)
    sys.stdout.write(text)


if __name__ == '__main__':
    main()
