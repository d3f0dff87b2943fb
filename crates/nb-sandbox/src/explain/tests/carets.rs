//! Carets: certain ones, and none where it is not certain.

use super::Native;
use crate::source::Lang;

#[test]
fn a_caret_stands_where_lua_stopped_reading() {
    let certain = [
        "return 1 +¦",
        "return 1 +¦ -- and what?",
        "f(¦",
        "x = 1\n\tx = 2 ¦}",
        "local a = {b ¦c}",
        "if x ¦!= 3 then end",
        "return ¦“hi”",
        "f('é' ¦= 3",
        "x = ¦\"abc\ny = 2",
        "x = ¦\"a\\q\"",
        "x = ¦3..4 .. 3..4",
        "local x <const> = 1; ¦x = x + 2",
        "x = y ¦end",
        "x = [[abc¦",
        "-- é ]] x\nx = 'x' ¦]",
    ];
    let uncertain = ["x = = 3", "x = (\n", "goto foo", "-- [[\nx = (\n", "x = [[a\nb]] ]]"];
    Native::new().check_carets(Lang::Lua, &certain);
    Native::new().check_carets(Lang::Lua, &uncertain);
}

#[test]
fn a_caret_stands_under_the_variable_of_a_message_of_lua() {
    let certain = [
        "return ¦os.getenv('X')",
        "local os = ¦os.time()",
        "local a = {} return a.¦b.c",
        "local a = {} a:¦foo()",
        "¦foo()",
        "x = 'é' .. ¦foo()",
        "local a = {x = 1} return a.x + a.¦y -- a.y",
        "return 1 + #¦zzz",
        "local a, b = 1 return a + ¦b * #type(b)",
        "return 'zzz' .. ¦zzz",
        "local t = {} return t[¦'b c'].x",
        "local x = 1.5 return ¦x | 1",
        "local t = {} t.x = 'y' .. t.¦y .. 'z'",
        "table.¦insert(1, 2)",
        "local s = 'x' return s:¦rep({})",
        "local t = {}\nlocal function f()\n  return t.¦x.y\nend\nf()",
        "local t = [[\nt.x.y ]] .. ('x').¦x.y",
    ];
    let uncertain = [
        "return zzz.a or zzz.b",
        "local x return (x).y",
        "local x return x\n .y + f(x)",
        "x = a\n(b)",
        "local t, k = {}, 'q' return t[k].z",
        "return zzz < 1",
        "for k in {} do end",
        "error('attempt to index a nil value (local \\'x\\')')",
    ];
    Native::new().check_carets(Lang::Lua, &certain);
    Native::new().check_carets(Lang::Lua, &uncertain);
}

#[test]
fn a_caret_stands_under_the_variable_of_a_message_of_fennel() {
    let certain = [
        "(¦os.getenv :X)",
        "(¦foo-bar 1)",
        "(local foo-bar nil)\n(print ¦foo-bar.x)",
        "(let [y 1\n      x? nil]\n  (+ y ¦x?))",
        "(let [x {}] (x:¦foo-bar 1))",
        "(let [x {}] (. x ¦:b-c :d))",
        "(let [x {}] (+ x.¦b-c 1))",
        "(let [x 1]\n  (let [x nil]\n    (print ¦x.y)))",
        "(let [end nil] ¦end.x)",
        "(#(+ ¦$ 1) nil)",
        "(local t nil)\n(. ¦t :x)",
        "(print (length ¦zzz))",
        "(.. \"zzz\" ¦zzz)",
        "(local s \"x\") (s:¦trim)",
        "(let [t {}]\n  (t.x t.¦y.z))",
        "(table.¦insert 1 2)",
        "; x.y\n(let [x nil] ¦x.y)",
    ];
    let uncertain = [
        "(let [x nil]\n  (print 1\n    x.y))",
        "(let [x nil]\n  (print (= 1 2) (fn [] (x))\n    (x)))",
        "(local x nil)\n(print (+ 1 x) x)",
    ];
    Native::new().check_carets(Lang::Fennel, &certain);
    Native::new().check_carets(Lang::Fennel, &uncertain);
}
