;; The special forms and macros of Fennel.

;;## let
(let [a 1
      (b c) (values 2 3)
      [d e] [4 5]
      {: f :g h} {:f 6 :g 7}
      [i & rest] [8 9 10]
      {:k {:l [m]}} {:k {:l [11]}}]
  [a b c d e f h i rest m])
;;## local, var and set
(local a 1)
(local [b c] [2 3])
(var d 4)
(set d (+ d a))
(var (e f) (values 5 6))
(set (e f) (values f e))
(local t {})
(set t.x 1)
[a b c d e f t.x]
;;## set of fields
(local t {:inner {}})
(set t.x 1)
(set t.inner.y 2)
(set (. t :z) 3)
(set [t.p t.q] [4 5])
[t.x t.inner.y t.z t.p t.q]
;;## set of what is not a variable
(local a 1)
(set a 2)
;;## set of what does not exist
(set nothing 1)
;;## global
(global shared 5)
(global (one two) (values 1 2))
[shared one two _G.shared]
;;## fn
(fn add [a b] (+ a b))
(fn named [] "A docstring" :result)
(local anonymous (fn [x] (* x 2)))
(local t {})
(fn t.method [self x] (.. self.name x))
(set t.name "n")
(fn optional [a ?b] [a (or ?b :none)])
(fn rest [a ...] [a (select "#" ...) ...])
[(add 1 2) (named) (anonymous 4) (t.method t "x") (t:method "y") (optional 1) (rest 1 nil 3)]
;;## fn with destructured parameters
(fn f [[a b] {: c} ...] [a b c ...])
(f [1 2] {:c 3} 4 5)
;;## lambda checks its arguments
(lambda f [a ?b c] [a (or ?b :nil) c])
(local show (require :show))
[(f 1 nil 3) (show (pcall f nil 2 3)) (show (pcall f 1 2))]
;;## an uncaught missing argument of lambda
(λ greet [name]
  (.. "Dear " name))

(greet)
;;## λ
((λ [x ...] [x ...]) 1 2)
;;## hashfn
[(#(+ $1 $2) 1 2) (#[$...] 1 2 3) (#$ 7) ((hashfn (* $ $)) 4) (#nil)]
;;## partial and pick
[((partial + 1) 2) ((partial string.format "%s-%s" :a) :b) ((pick-args 2 #(select "#" $...)) 1 2 3) (select "#" (pick-values 2 (values 1 2 3)))]
;;## do
(do (local a 1) (local b 2) (+ a b))
;;## values
[(values 1 2 3)]
;;## values in the middle
[(values 1 2) 3]
;;## if
[(if true 1 2) (if false 1 2) (if nil 1 false 2 3) (if false 1 false 2) (if 0 :zero) (if "" :empty)]
;;## if as a statement
(var out [])
(if (= 1 1) (table.insert out :yes) (table.insert out :no))
(if false (table.insert out :never) nil (table.insert out :never) (table.insert out :else))
out
;;## when
[(when true 1 2) (when false 1)]
;;## an if without a body
(if)
;;## each
(local out [])
(each [i x (ipairs [:a :b :c])] (table.insert out (.. i x)))
(each [k v (pairs {:only 1})] (table.insert out (.. k v)))
(each [i x (ipairs [1 2 3 4]) &until (> i 2)] (table.insert out x))
(each [_ [a b] (ipairs [[1 2] [3 4]])] (table.insert out (+ a b)))
(each [word (string.gmatch "x y z" "%a")] (table.insert out word))
out
;;## each without an iterator
(each [x 5] x)
;;## for
(local out [])
(for [i 1 3] (table.insert out i))
(for [i 10 1 -4] (table.insert out i))
(for [i 1 10 &until (= i 3)] (table.insert out (* i i)))
(for [i 1 0] (table.insert out :never))
out
;;## for with a step of zero
(for [i 1 3 0] i)
;;## while
(var n 0)
(local out [])
(while (< n 3)
  (set n (+ n 1))
  (table.insert out n))
out
;;## icollect
[(icollect [_ x (ipairs [1 2 3])] (* x x)) (icollect [_ x (ipairs [1 2 3 4])] (when (= 0 (% x 2)) x)) (icollect [i x (ipairs [1 2 3]) &into [0]] x) (icollect [i x (ipairs [5 6 7]) &until (= i 2)] x)]
;;## collect
[(collect [i x (ipairs [:a :b])] x i) (collect [k v (pairs {:a 1}) &into {:z 0}] k (+ v 1)) (collect [_ x (ipairs [1 2])] (when (= x 1) (values :one x)))]
;;## fcollect
[(fcollect [i 1 4] (* i 10)) (fcollect [i 1 10 3] i) (fcollect [i 1 5] (when (not= i 3) i)) (fcollect [i 1 2 &into [0]] i)]
;;## accumulate
[(accumulate [sum 0 _ x (ipairs [1 2 3])] (+ sum x)) (accumulate [(a b) (values 0 1) _ x (ipairs [1 2 3])] (values b (+ a x))) (accumulate [n 0 i x (ipairs [1 2 3]) &until (= i 2)] (+ n 1))]
;;## faccumulate
[(faccumulate [n 1 i 1 5] (* n i)) (faccumulate [s "" i 3 1 -1] (.. s i)) (faccumulate [n 0 i 1 100 &until (> n 10)] (+ n i))]
;;## match
(fn what [x]
  (match x
    nil :nothing
    1 :one
    [a b] (.. "pair " a b)
    {:name name :age age} (.. name age)
    {:name name} (.. "only " name)
    (where n (= (type n) :number) (> n 10)) :large
    (where (or :a :b)) :letter
    [first & rest] (.. first (length rest))
    _ :else))
(local out [])
(each [i x (ipairs [1 [2 3] {:name :x :age 5} {:name :y} 50 :a :b :c true [9]])] (tset out i (what x)))
[out (what nil)]
;;## match of what is bound
(let [x 5]
  [(match 5 x :same _ :other) (match 6 x :same _ :other) (case 6 x :bound) (case 6 (where (= x)) :same _ :other)])
;;## a comparison in a pattern without where
(case 6 (= x) :same _ :other)
;;## match of values
[(match (values 1 2) (1 3) :no (1 b) b) (match (values nil :problem) (nil message) message x x) (match (pcall error :oops 0) (true x) x (false e) e)]
;;## match without a case that fits
[(match 5 4 :four) :after]
;;## case
(fn f [x]
  (case x
    [1 [y]] y
    {:a {:b z}} z
    (where {: n} (< n 5)) :small
    (where (or [:p v] [:q v])) v
    ?any (or ?any :nil)))
[(f [1 [2]]) (f {:a {:b 3}}) (f {:n 1}) (f [:p 8]) (f [:q 9]) (f 7) (f nil)]
;;## case-try
(fn get [t k] (if (. t k) (. t k) (values nil (.. "no " k))))
(fn path [t]
  (case-try (get t :a)
    a (get a :b)
    b (get b :c)
    c c
    (catch
      (nil message) message)))
[(path {:a {:b {:c 5}}}) (path {:a {:b {}}}) (path {:a {}}) (path {})]
;;## match-try
(fn try [x]
  (match-try x
    1 2
    2 :both
    (catch
      a (.. "caught " a))))
[(try 1) (try 5)]
;;## threading
[(-> 5 (+ 1) (* 2)) (->> [1 2 3] (length) (+ 10)) (-> " x " (string.gsub "%s" "")) (-?> {:a {:b 5}} (. :a) (. :b)) (-?> {} (. :a) (. :b))
 (-?>> 5 (- 10)) (-?>> nil (- 10))]
;;## threading into pick-values
(-> (values 1 2) (pick-values 1))
;;## threading through functions
(fn first [t] (. t 1))
[(-> [3 4] first) (-> "a" (.. "b") (.. "c")) (->> "a" (.. "b")) (-?> nil first) (-?> [5] first (+ 1))]
;;## doto
(local t (doto [3 1 2] table.sort (table.insert 4) (tset :x nil)))
t
;;## tset and .
(local t {:a {:b [1 2 3]}})
(tset t :c 5)
(tset t :a :b 2 :two)
(local k :a)
[(. t :a :b 1) (. t k :b 2) t.c (. t.a.b 3) (. [1 2 3] 2)]
;;## ?.
(local t {:a {:b {:c 1}}})
[(?. t :a :b :c) (or (?. t :x :b) :nil) (or (?. nil :a) :nil) (or (?. t :a :x :c) :nil)]
;;## an uncaught index of nil
(local t {})

(. t :a :b)
;;## operators
[(+ 1 2 3) (- 10 3 2) (- 5) (* 2 3 4) (/ 10 4) (// 10 4) (% 10 4) (^ 2 10) (.. "a" 1 "b") (+) (*) (..) (+ 7) (* 7) (.. "x")]
;;## a division of one number
[(/ 2) (// 3)]
;;## comparison
[(= 1 1) (= 1 2) (not= 1 2) (~= 1 1) (< 1 2 3) (< 1 3 2) (<= 1 1 2) (> 3 2 1) (>= 2 2) (= :a :a :a) (not true) (not nil) (= 1 1.0)]
;;## comparison evaluates once
(var n 0)
(fn next-number [] (set n (+ n 1)) n)
[(< 0 (next-number) 5) n (= (next-number) 2) n]
;;## and, or
[(and) (or) (and 1 2) (and nil 2) (or nil 2) (or false nil :x) (and 1 2 nil 3) (and true (or nil :y))]
;;## bits
[(band 5 3) (bor 5 3) (bxor 5 3) (bnot 5) (lshift 1 4) (rshift 256 4) (band 7 6 4) (bor 1 2 4) (band) (bor)]
;;## an uncaught bit operation on a float
(local half 0.5)
(bor 1 half)
;;## length
[(length [1 2 3]) (length "abc") (length [])]
;;## an uncaught length of a number
(local n 5)
(length n)
;;## tables
[{} [] [1 [2 [3]]] {:a 1 "b c" 2 3 :three} {: math.pi} {:nested {:t [{:x 1}]}}]
;;## tables with computed keys
(local (k v) (values :key :value))
(local t {k v (.. k 2) 2 [1] nil})
[(. t :key) (. t :key2)]
;;## strings
["a\tb\n\"\\" :keyword "\65\x41\u{48}" "several
lines" "é日本" ":not-a-keyword" :with-dash? :a.b "\0end"]
;;## numbers
[1 -1 1.5 0x10 1e3 1_000 -0.5 9007199254740993 0xffff_ffff 1e-5 .5 +5 9223372036854775807]
;;## numbers that are none
[(= .nan .nan) (= .inf math.huge) (= -.inf (- math.huge))]
;;## comments
; a comment
(comment this is (not compiled) at all)
[1 ; in the middle
 3 ; the end
 ]
;;## names
(local with-dash 1)
(local question? 2)
(local bang! 3)
(local λ-x 4)
(local naïve 5)
(local 日本 6)
(local and* 7)
(local end 8)
(local _under 9)
(local a->b 10)
[with-dash question? bang! λ-x naïve 日本 and* end _under a->b]
;;## names of Lua as names
(local function 1)
(local local* 2)
(fn repeat [until] (+ until 1))
(local t {:end 5 :if 6})
[function local* (repeat 2) t.end (. t :if)]
;;## an uncaught error with a mangled name
(local with-dash nil)
(with-dash.field.x)
;;## an uncaught call of a name with a dash
(local no-function {})

(no-function 1)
;;## methods
(local s "text")
(local t {:name "n" :get (fn [self x] (.. self.name (or x "")))})
[(s:upper) (: s :rep 2) (t:get) (t:get "y") (: t (.. "g" "et") "z") (: "abc" :len)]
;;## an uncaught call of a method that is not there
(local t {})
(t:nothing 1)
;;## varargs
(fn f [...] [(select "#" ...) ...])
(fn g [...] (let [(a b) ...] [a b]))
(fn h [...] (icollect [_ x (ipairs [...])] x))
[(f) (f 1 nil 3) (g 1 2 3) (h 4 5) ((fn [...] (select :# ...)) 1 2)]
;;## varargs with an operator
((fn [...] (+ ...)) 1 2)
;;## varargs outside of a function that has them
(fn f [] ...)
;;## unpack
(local unpack (or table.unpack _G.unpack))
[(unpack [1 2 3])]
;;## macro
(macro twice [x] `(do ,x ,x))
(macro square [x] `(let [v# ,x] (* v# v#)))
(var n 0)
(twice (set n (+ n 1)))
[n (square (+ 1 2))]
;;## macros
(macros {:swap (fn [a b] `[,b ,a])
         :count (fn [...] (select "#" ...))
         :symbols (fn [...] (icollect [_ s (ipairs [...])] (tostring s)))})
[(swap 1 2) (count a b c) (symbols x y-z)]
;;## import-macros
(import-macros {: unless : swap!} :macros)
(var (a b) (values 1 2))
(swap! a b)
[a b (unless false :ran) (unless true :never)]
;;## import-macros under a name
(import-macros m :macros)
[(m.unless nil 1)]
;;## a macro that refuses its form
(import-macros {: checked} :macros)
(local x
  (checked 5))
;;## a macro that is not there
(import-macros {: nothing} :macros)
;;## a module of macros that is not there
(import-macros {: a} :nowhere)
;;## an error in a macro

(macro failing [] (error "in the macro"))
(failing)
;;## quoting
(macro build [] (let [parts []] (for [i 1 3] (table.insert parts `(* ,i 2))) `[,(unpack parts)]))
(macro name [] (sym :math.pi))
(macro kind [x] (if (sym? x) :sym (list? x) :list (sequence? x) :sequence (table? x) :table (type x)))
[(build) (= (name) math.pi) (kind a) (kind (a)) (kind [a]) (kind {}) (kind 5)]
;;## quote and unquote by name
(macro add [x] (quote (+ 1 (unquote x))))
(add 2)
;;## set-forcibly!
(local a 1)
(set-forcibly! a 2)
a
;;## a symbol that a macro brings in
(macro bad [] `(let [x 1] x))
(bad)
;;## macrodebug
(macrodebug (when true 1) :return)
;;## tail!
(fn loop [n] (if (= n 0) :done (tail! (loop (- n 1)))))
(loop 50000)
;;## tail! where nothing is a tail
(fn f [] (+ 1 (tail! (f))))
;;## lua
(lua "local y = 10" "y + 1")
;;## lua with a return
(lua "do return 42 end")
;;## quote outside of a macro
(local x `(a b))
;;## eval-compiler
(eval-compiler (local x 1))
;;## assert
(local show (require :show))
[(show (pcall #(assert false :message))) (assert 5) (show (pcall #(assert nil)))]
;;## assert-repl
(local show (require :show))
(show (pcall #(assert-repl true 5)))
;;## require
(local show (require :show))
(show 1 nil {:a [1 2]})
;;## fennel.view
[(fennel.view {:a [1 2.5 :b]}) (fennel.view "x\ny") (fennel.view nil) (fennel.view [[] {} [nil 1]]) (fennel.view {1 :a 3 :b}) (fennel.view :a-b) (fennel.view 1e100) (fennel.view [1 2] {:one-line? true})
 (fennel.view {:long (string.rep "x" 100) :list [1 2 3]}) (fennel.view (setmetatable {} {:__fennelview #"own"}))]
;;## fennel.view with options
[(fennel.view [1 [2 [3 [4]]]] {:depth 2}) (fennel.view {:a {:b 1}} {:one-line? true}) (fennel.view "é\1\"" {:escape-newlines? true}) (fennel.view [1 2 3] {:empty-as-sequence? true}) (fennel.view {} {:empty-as-sequence? true})
 (fennel.view 255 {:preprocess #(if (= $ 255) :replaced $)}) (fennel.view (let [t {}] (set t.t t) t))]
;;## include
(local failing (include :failing))
[(type failing.fail) (pcall failing.fail 5)]
;;## require-macros
(require-macros :macros)
(unless false :ran)
;;## the place of a method that is not there
(local log nb.log)
(print "a")
(log:warn "x")
2
;;## the place of a method of nil
(local s nil)


(s:nomethod 1)
nil
;;## the place of a literal that is set
(fn f [t]
  (set t.name "x")
  (set t.name.a.b 1)
  t)
(f {})
;;## the place of a literal that is set in a form of macros
(local cfg {:a 1})
(when cfg.a
  (set cfg.b.c 1))
;;## the place of literals that are set at once
(var x nil)
(set [x.y x.z] [1 2])
;;## the place of a method with a name that is computed
(let [x {}]
  (print 1)
  (: (or x false) (.. :a :b) 1)
  3)
;;## methods and literals that are set
(local t {:n 1 :add (fn [self x] (set self.n (+ self.n x)) self)})
(t:add 2)
(set t.m 5)
(set (t.a t.b) (values 1 2))
(set [t.c] [3])
(set t.d nil)
(: (t:add 3) :add 4)
(let [name :add] (: t name 10))
[t.n t.m t.a t.b t.c (if true (do (set t.e 1) (t:add 1) t.e) 0)]
