// SPDX-License-Identifier: BSD-2-Clause
// manifest.js NODE-MODULES FILE: what is wrong with a manifest of Kubernetes, a line each; status 1 if anything is. Values are judged by the schemas of
// the npm package kubernetes-models; those do not refuse fields that do not exist, so fields are looked up in its declarations.
'use strict';
const fs = require('fs');
const path = require('path');
const [modules, file] = process.argv.slice(2);
const load = name => require(path.join(modules, name));
const kinds = {
    'apps/v1 DaemonSet': 'kubernetes-models/apps/v1/DaemonSet',
    'networking.k8s.io/v1 NetworkPolicy': 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
};
let wrong = 0;

function complain(text) {
    console.log(text);
    wrong++;
}

// Field -> [file of its type, or null; whether it is a list of them].
const declared = new Map();
function fields(module) {
    if (!declared.has(module)) {
        const text = fs.readFileSync(path.join(modules, module + '.d.ts'), 'utf8').replace(/\/\*[^]*?\*\//g, '');
        const from = new Map();
        for (const [, name, where] of text.matchAll(/import \{ (\w+) \} from "([^"]+)"/g))
            from.set(name, where.startsWith('.') ? path.join(path.dirname(module), where) : where);
        const body = /export interface \w+[^{]*\{([^]*?)\n\}/.exec(text);
        const found = new Map();
        for (const [, field, type] of (body ? body[1] : '').matchAll(/^ {4}"(\w+)"\??: ([^]*?);$/gm)) {
            const list = /^Array<(\w+)>$/.exec(type);
            found.set(field, [from.get(list ? list[1] : type) || null, Boolean(list)]);
        }
        declared.set(module, found);
    }
    return declared.get(module);
}

function walk(value, module, where) {
    const known = fields(module);
    if (known.size === 0 || value === null || typeof value !== 'object') // a type that is no interface, such as a quantity
        return;
    for (const [key, child] of Object.entries(value)) {
        const [type, list] = known.get(key) || [undefined, false];
        if (type === undefined)
            complain(`${where}.${key}: there is no such field`);
        else if (type !== null)
            (list && Array.isArray(child) ? child : [child]).forEach((one, i) => walk(one, type, `${where}.${key}` + (list ? `[${i}]` : '')));
    }
}

let n = 0;
load('js-yaml').loadAll(fs.readFileSync(file, 'utf8'), document => {
    const kind = `${document.apiVersion} ${document.kind}`;
    n++;
    if (!kinds[kind])
        return complain(`${kind} is not known here`);
    const where = `${document.kind} ${document.metadata && document.metadata.name}`;
    try {
        new (load(kinds[kind])[document.kind])(document).validate();
    } catch (e) {
        complain(`${where}: ${e.message}`);
    }
    walk(document, kinds[kind], where);
});
if (n === 0)
    complain('there is nothing in it');
process.exit(wrong > 0 ? 1 : 0);
